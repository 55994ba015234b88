/// The version of the program, which `scripts/dist` and the packages read here.
package enum Version {
  package static let text = "0.1.0"
}
