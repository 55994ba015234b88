import Keys
package import Primitives

/// Computes the names of records: HMACs, which reveal nothing without the circle's key.
package struct RecordNames: Sendable {
  private let key: SharedSecret

  package init(_ key: SharedSecret) { self.key = key }

  /// The name of the record of an item.
  ///
  /// - Parameter primary: the encoded primary attributes.
  package func name(of primary: [UInt8]) -> [UInt8] { mac("item", primary) }

  /// The name of a record that keeps a version which lost a conflict.
  ///
  /// - Parameter version: the digest of its signed line.
  package func name(ofKept version: [UInt8]) -> [UInt8] { mac("kept", version) }

  private func mac(_ use: String, _ bytes: [UInt8]) -> [UInt8] {
    var message = CanonicalEncoding()
    message.append(tag: 1, use)
    message.append(tag: 2, bytes)
    return MAC.hmacSHA256(key: key.bytes, message.bytes)
  }
}
