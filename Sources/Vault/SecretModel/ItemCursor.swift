/// A position in the items that a search finds.
package struct ItemCursor: Sendable, Hashable {
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
}
