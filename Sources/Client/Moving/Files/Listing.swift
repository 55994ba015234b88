/// The first of many values, and the number of all, so that a file with many items needs little memory.
package struct Listing<Element: Sendable>: Sendable {
  /// The maximum number of values that are kept.
  package static var limit: Int { 1_000 }

  /// The first values, in order.
  package private(set) var first: [Element] = []
  /// The number of all values.
  package private(set) var count = 0

  package init() {}

  package mutating func append(_ element: Element) {
    if count < Self.limit { first.append(element) }
    count += 1
  }
}
