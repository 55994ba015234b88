import SecureMemory

/// The secret of an item that git has stored: the password, and git's other fields on the lines after it, as in git's
/// own helper for the Secret Service.
struct GitSecret: Sendable {
  /// The fields on the lines after the password, in this order.
  private static let others = ["password_expiry_utc", "oauth_refresh_token", "authtype", "credential"]

  /// The fields that git reads only if it has announced the capability `authtype`.
  private static let ofAuthenticationTypes = ["authtype", "credential"]

  private let bytes: SharedSecret

  /// The secret of an item.
  init(_ bytes: consuming SecretBytes) { self.bytes = SharedSecret(bytes) }

  /// The secret that git wants to store; nil without a password and credential.
  init?(storing request: GitFields) {
    let password = request.secret("password")
    guard password != nil || request.secret("credential") != nil else { return nil }
    var bytes = password ?? SecretBytes(count: 0)
    for key in Self.others {
      guard let value = request.secret(key) else { continue }
      bytes.append("\n\(key)=")
      bytes.append(value)
    }
    self.init(bytes)
  }

  /// A copy of the bytes to store.
  func copy() -> SecretBytes { bytes.copy() }

  /// Whether both are the same.
  func equals(_ other: GitSecret) -> Bool { bytes.bytes.constantTimeEquals(other.bytes.bytes) }

  /// Whether the password is this one.
  func hasPassword(_ password: borrowing SecretBytes) -> Bool {
    bytes.bytes.withUnsafeBytes { bytes in
      SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<Self.firstLine(of: bytes)]))
    }.constantTimeEquals(password)
  }

  /// Adds the lines that git reads.
  ///
  /// - Parameter authenticationTypes: whether git has announced the capability `authtype`.
  /// - Throws: `usage` for a secret that git has not stored.
  func write(to answer: inout SecretBytes, authenticationTypes: Bool) throws(Failure) {
    let end = bytes.bytes.withUnsafeBytes { Self.firstLine(of: $0) }
    let fields = try GitFields(bytes, from: end + 1)
    // An empty first line means an empty password, or none if there is a credential.
    if end > 0 || fields.secret("credential") == nil {
      answer.append("password=")
      bytes.bytes.withUnsafeBytes { answer.append(UnsafeRawBufferPointer(rebasing: $0[..<end])) }
      answer.append("\n")
    }
    for key in Self.others where authenticationTypes || !Self.ofAuthenticationTypes.contains(key) {
      guard let value = fields.secret(key) else { continue }
      answer.append("\(key)=")
      answer.append(value)
      answer.append("\n")
    }
  }

  private static func firstLine(of bytes: UnsafeRawBufferPointer) -> Int {
    bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
  }
}

extension SecretBytes {
  mutating func append(_ other: borrowing SecretBytes) { other.withUnsafeBytes { append($0) } }

  mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    let end = count
    resize(to: end + bytes.count)
    withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[end...]).copyMemory(from: bytes) }
  }
}
