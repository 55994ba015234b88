/// Memory for a secret, which is wiped when it is freed.
package protocol WipedBytes: AnyObject, Sendable {
  /// Copies the bytes.
  init(copying bytes: UnsafeRawBufferPointer)
  /// Lends the bytes. The pointer is valid only during the call.
  func lend<Value, Failure>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Value) throws(Failure) -> Value
}

/// An array of bytes in a message that is a secret. sd-bus wipes such a message when it frees it. Two secrets are equal
/// only if they are the same object.
package struct BusSecret: Sendable, Hashable {
  package let bytes: any WipedBytes

  package init(_ bytes: any WipedBytes) { self.bytes = bytes }

  package static func == (one: BusSecret, other: BusSecret) -> Bool { one.bytes === other.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(bytes)) }

  var count: Int { bytes.lend { $0.count } }
}
