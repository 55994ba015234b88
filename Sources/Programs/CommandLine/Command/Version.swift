/// The version of the program, which `scripts/dist` and the packages read here.
enum Version {
  static let text = "0.1.0"
}
