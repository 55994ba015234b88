/// One revision of one item.
package struct ItemReference: Hashable, Sendable {
  package var id: [UInt8]
  var revision: Int64
}
