/// A value in the subset of CBOR (RFC 8949) that CTAP2 uses.
package enum CBORValue: Sendable, Hashable {
  case unsigned(UInt64)
  /// The number -1 - n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CBORValue])
  case map([CBORValue: CBORValue])
  case bool(Bool)
  case null

  package init(_ number: Int) {
    // -1 - n is the complement of n.
    self = number < 0 ? .negative(UInt64(clamping: ~number)) : .unsigned(UInt64(clamping: number))
  }

  /// The number, if the value is one and fits.
  package var integer: Int? {
    switch self {
    case .unsigned(let number): Int(exactly: number)
    case .negative(let number): Int(exactly: number).map { ~$0 }
    default: nil
    }
  }

  package var byteString: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  package var string: String? { if case .text(let text) = self { text } else { nil } }
  package var elements: [CBORValue]? { if case .array(let elements) = self { elements } else { nil } }
  package var entries: [CBORValue: CBORValue]? { if case .map(let entries) = self { entries } else { nil } }
  package var boolean: Bool? { if case .bool(let value) = self { value } else { nil } }
}

extension CBORValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral {
  package init(integerLiteral value: Int) { self.init(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension CBORValue: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (CBORValue, CBORValue)...) {
    self = .map(Dictionary(elements) { first, _ in first })
  }
}

extension CBORValue: ExpressibleByArrayLiteral {
  package init(arrayLiteral elements: CBORValue...) { self = .array(elements) }
}
