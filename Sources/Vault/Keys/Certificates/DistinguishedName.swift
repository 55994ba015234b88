internal import COpenSSL

/// An X.501 name (RFC 5280, section 4.1.2.4): the subject or the issuer of a certificate.
package struct DistinguishedName: Sendable, Hashable {
  /// The attributes that are distinguished here.
  package enum Attribute: Sendable, Hashable {
    case commonName, organizationalUnit, organization, description, emailAddress, other
  }

  /// The whole name in DER, normalized so that equal names have the same bytes: a PrintableString is in upper case,
  /// without spaces at its ends, and with single spaces within (RFC 3280, section 4.1.2.4). Other values are unchanged.
  /// Apple's calls compare names in this form.
  package let normalized: [UInt8]

  /// The attributes that are text, in the name's order.
  private let entries: [Entry]

  private struct Entry: Sendable, Hashable {
    let attribute: Attribute
    let text: String
  }

  /// The largest name that is read, in bytes: as large as a whole certificate.
  static let limit = 64 << 10

  /// Parses one name in DER. Nil for anything else.
  package init?(der: [UInt8]) {
    guard der.count <= Self.limit else { return nil }
    let (name, readCount) = der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      // Reads the borrowed bytes and moves `next` behind what it has read; the result is transfer full.
      let name = d2i_X509_NAME(nil, &next, bytes.count)
      return (name, next.map { $0 - (bytes.baseAddress ?? $0) } ?? 0)
    }
    defer {
      X509_NAME_free(name)
      ERR_clear_error()
    }
    guard readCount == der.count else { return nil }
    self.init(name)
  }

  /// Copies an `X509_NAME *`, which is borrowed.
  init?(_ name: OpaquePointer?) {
    // Transfer full.
    guard let name, let normalized = X509_NAME_new() else { return nil }
    defer { X509_NAME_free(normalized) }
    var entries: [Entry] = []
    var lastSet: Int32 = -1
    for index in 0..<X509_NAME_entry_count(name) {
      // All borrowed from the name. Entries of the same set belong to one relative distinguished name.
      guard let entry = X509_NAME_get_entry(name, index), let value = X509_NAME_ENTRY_get_data(entry) else {
        return nil
      }
      let set = X509_NAME_ENTRY_set(entry)
      // Copies the entry: into a set of its own (0), or into that of the previous entry (-1).
      guard X509_NAME_add_entry(normalized, entry, -1, set == lastSet ? -1 : 0) == 1,
        Self.normalize(X509_NAME_get_entry(normalized, index))
      else { return nil }
      lastSet = set
      if let text = text(value) { entries.append(Entry(attribute: Self.attribute(entry), text: text)) }
    }
    guard let der = encoded({ i2d_X509_NAME(normalized, $0) }) else { return nil }
    self.normalized = der
    self.entries = entries
  }

  /// The content of ``normalized``, without its header.
  package var normalizedContent: [UInt8] { contentOfElement(normalized) ?? [] }

  /// The texts of an attribute, in the name's order.
  package func texts(_ attribute: Attribute) -> [String] {
    entries.filter { $0.attribute == attribute }.map(\.text)
  }

  /// The texts of an attribute, the last and most particular first; nil if there is none.
  func joined(_ attribute: Attribute) -> String? { Self.joined(texts(attribute)) }

  /// The texts of all other attributes, the last first.
  var joinedOthers: String? {
    let known: [Attribute] = [.commonName, .organizationalUnit, .organization]
    return Self.joined(entries.filter { !known.contains($0.attribute) }.map(\.text))
  }

  private static func joined(_ texts: [String]) -> String? {
    let texts = texts.filter { !$0.isEmpty }
    return texts.isEmpty ? nil : texts.reversed().joined(separator: ", ")
  }

  /// `entry` is borrowed from the name it belongs to.
  private static func attribute(_ entry: OpaquePointer) -> Attribute {
    switch OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) {
    case NID_commonName: .commonName
    case NID_organizationalUnitName: .organizationalUnit
    case NID_organizationName: .organization
    case NID_description: .description
    case NID_pkcs9_emailAddress: .emailAddress
    default: .other
    }
  }

  /// Normalizes one entry in place, which belongs to a name that has not been encoded yet.
  private static func normalize(_ entry: OpaquePointer?) -> Bool {
    guard let entry, let value = X509_NAME_ENTRY_get_data(entry) else { return false }
    guard ASN1_STRING_type(value) == V_ASN1_PRINTABLESTRING else { return true }
    let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(value), count: Int(ASN1_STRING_length(value)))
    let words = bytes.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    let joined = Array(words.joined(separator: [UInt8(ascii: " ")])).map { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 0x20 : byte
    }
    // Copies the bytes.
    return X509_NAME_ENTRY_set_data(entry, V_ASN1_PRINTABLESTRING, joined, Int32(joined.count)) == 1
  }
}

/// The text of an ASN.1 string (borrowed) in any encoding. Nil if it is damaged, or contains a NUL, which other
/// programs take for the end of the text.
func text(_ string: UnsafePointer<ASN1_STRING>) -> String? {
  var bytes: UnsafeMutablePointer<UInt8>?
  // Transfer full.
  let count = ASN1_STRING_to_UTF8(&bytes, string)
  guard count >= 0, let bytes else { return nil }
  defer { CRYPTO_free(bytes, nil, 0) }
  let utf8 = UnsafeBufferPointer(start: bytes, count: Int(count))
  return utf8.contains(0) ? nil : String(validating: utf8, as: UTF8.self)
}

/// The DER that one of libcrypto's `i2d_…` functions writes; nil if it fails.
func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
  let count = Int(write(nil))
  guard count > 0 else { return nil }
  var bytes = [UInt8](repeating: 0, count: count)
  // Writes as many bytes as it has announced into the borrowed memory, and moves the pointer behind them.
  let written = bytes.withUnsafeMutableBufferPointer { room in
    var next = room.baseAddress
    return Int(write(&next))
  }
  return written == count ? bytes : nil
}

/// The content of a DER element that libcrypto wrote, behind its tag and length.
func contentOfElement(_ der: [UInt8]) -> [UInt8]? {
  guard let tag = der.first else { return nil }
  return der.withUnsafeBytes { bytes in
    IntegerSequence.element(in: bytes, 0..<bytes.count, tag: tag).map { Array(bytes[$0]) }
  }
}
