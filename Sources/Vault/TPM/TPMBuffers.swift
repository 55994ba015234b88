internal import CTSS
internal import Glibc
internal import SecureMemory

// The library's types for bytes hold them in arrays of fixed size, which Swift sees as tuples.
extension TPM2B_AUTH {
  mutating func take(_ secret: borrowing SecretBytes) throws(TPMError) {
    size = try Marshalling.copy(secret, into: &buffer)
  }
}

extension TPM2B_SENSITIVE_DATA {
  mutating func take(_ secret: borrowing SecretBytes) throws(TPMError) {
    size = try Marshalling.copy(secret, into: &buffer)
  }

  /// The bytes, in locked memory. The caller wipes this value.
  var secret: SecretBytes {
    mutating get {
      let count = Int(size)
      return withUnsafeBytes(of: &buffer) {
        SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
      }
    }
  }
}

extension TPM2B_NAME {
  var bytes: [UInt8] { withUnsafeBytes(of: name) { Array($0.prefix(Int(size))) } }
}

extension UnsafeMutableRawBufferPointer {
  func wipe() {
    if let baseAddress { explicit_bzero(baseAddress, count) }
  }
}

/// The TPM's encoding of the two parts of a sealed object, which is how they are stored.
enum Marshalling {
  fileprivate static func copy<Buffer>(_ secret: borrowing SecretBytes, into buffer: inout Buffer)
    throws(TPMError) -> UInt16
  {
    let isShort = withUnsafeMutableBytes(of: &buffer) { target in
      guard secret.count <= target.count else { return false }
      secret.withUnsafeBytes { target.copyMemory(from: $0) }
      return true
    }
    guard isShort else { throw .refused("a secret is too long") }
    return UInt16(secret.count)
  }

  static func bytes(of part: UnsafePointer<TPM2B_PUBLIC>) throws(TPMError) -> [UInt8] {
    try bytes(atMost: MemoryLayout<TPM2B_PUBLIC>.size) { Tss2_MU_TPM2B_PUBLIC_Marshal(part, $0, $1, $2) }
  }

  static func bytes(of part: UnsafePointer<TPM2B_PRIVATE>) throws(TPMError) -> [UInt8] {
    try bytes(atMost: MemoryLayout<TPM2B_PRIVATE>.size) { Tss2_MU_TPM2B_PRIVATE_Marshal(part, $0, $1, $2) }
  }

  static func publicPart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PUBLIC {
    var part = TPM2B_PUBLIC()
    try parse(bytes) { Tss2_MU_TPM2B_PUBLIC_Unmarshal($0, $1, $2, &part) }
    return part
  }

  static func privatePart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PRIVATE {
    var part = TPM2B_PRIVATE()
    try parse(bytes) { Tss2_MU_TPM2B_PRIVATE_Unmarshal($0, $1, $2, &part) }
    return part
  }

  private static func bytes(
    atMost limit: Int, _ marshal: (UnsafeMutablePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> TSS2_RC
  ) throws(TPMError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    var used = 0
    // Writes at most as many bytes as it is told.
    let code = bytes.withUnsafeMutableBufferPointer { buffer -> TSS2_RC in
      guard let base = buffer.baseAddress else { return 1 }
      return marshal(base, buffer.count, &used)
    }
    try ResponseCode.check(code, "Marshal")
    return Array(bytes.prefix(used))
  }

  private static func parse(
    _ bytes: [UInt8], _ unmarshal: (UnsafePointer<UInt8>, Int, UnsafeMutablePointer<Int>) -> TSS2_RC
  ) throws(TPMError) {
    var used = 0
    // Borrows the bytes for the call.
    let code = bytes.withUnsafeBufferPointer { buffer -> TSS2_RC in
      guard let base = buffer.baseAddress else { return 1 }
      return unmarshal(base, buffer.count, &used)
    }
    guard code == 0, used == bytes.count else { throw .refused("a sealed object is damaged") }
  }
}
