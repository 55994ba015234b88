/// Restrictions of D-Bus (D-Bus Specification, "Valid Object Paths" and "Marshaling").
extension String {
  /// Whether this can be an element of an object path.
  var isObjectPathElement: Bool {
    !isEmpty
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Whether a string of a message can contain this: it has no character U+0000.
  var fitsIntoMessage: Bool { !utf8.contains(0) }
}
