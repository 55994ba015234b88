internal import Moving
import Primitives
import Settings

/// The fields between git and a credential helper: lines of `key=value`, up to an empty line or the end
/// (git-credential(1), "Input/output format"). The values stay in locked memory.
struct GitFields: Sendable {
  private let bytes: SharedSecret
  private var values: [(key: String, place: Range<Int>)] = []

  /// Reads the fields from a position in the bytes.
  ///
  /// - Throws: `usage` for a line without an equals sign, and for a key that is not UTF-8.
  init(_ bytes: SharedSecret, from start: Int = 0) throws(Failure) {
    self.bytes = bytes
    var line = start
    while line < bytes.bytes.count {
      let (end, equals) = Self.line(at: line, of: bytes.bytes)
      if end == line { break }
      guard let equals, let key = Self.text(line..<equals, of: bytes.bytes) else {
        throw .usage("a line on standard input is not 'key=value'", advice: "git runs this command")
      }
      values.append((key, equals + 1..<end))
      line = end + 1
    }
  }

  /// The value of a key, the last if there are several; nil if there is none.
  ///
  /// - Throws: `usage` if it is not UTF-8.
  func text(_ key: String) throws(Failure) -> String? {
    guard let place = place(of: key) else { return nil }
    guard let text = Self.text(place, of: bytes.bytes) else {
      throw .usage("git's '\(key)' is not UTF-8", advice: "write names in UTF-8")
    }
    return text
  }

  /// The values of a repeated key, such as `capability[]`. Leaves out values that are not UTF-8.
  func all(_ key: String) -> [String] {
    values.compactMap { $0.key == key ? Self.text($0.place, of: bytes.bytes) : nil }
  }

  /// A copy of the value of a key; nil if there is none.
  func secret(_ key: String) -> SecretBytes? {
    guard let place = place(of: key) else { return nil }
    return bytes.bytes.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[place])) }
  }

  private func place(of key: String) -> Range<Int>? { values.last { $0.key == key }?.place }

  /// Where the line ends, and where its first equals sign is.
  private static func line(at start: Int, of bytes: borrowing SecretBytes) -> (end: Int, equals: Int?) {
    bytes.withUnsafeBytes { bytes in
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      return (end, bytes[start..<end].firstIndex(of: UInt8(ascii: "=")))
    }
  }

  private static func text(_ place: Range<Int>, of bytes: borrowing SecretBytes) -> String? {
    bytes.withUnsafeBytes { String(validating: $0[place], as: UTF8.self) }
  }
}

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
