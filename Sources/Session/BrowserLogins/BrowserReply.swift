internal import Moving
internal import Primitives

/// The text of an answer before it is sealed, as JSON in locked memory.
struct BrowserReply: ~Copyable {
  private var text = SecretBytes(count: 0)

  /// The version of KeePassXC whose protocol this is. It is the last one without passkeys: the extension compares it.
  static let version = "2.7.6"

  /// - Parameter nonce: that of the answer, which it has in it as well.
  init(nonce: [UInt8]) {
    text.append(#"{"version":"\#(Self.version)","success":"true","nonce":"\#(Base64.text(of: nonce))""#)
  }

  /// Adds a member whose value is a text.
  mutating func add(_ name: String, _ value: String) {
    text.append(",\"\(name)\":")
    text.append(json: value)
  }

  mutating func add(_ name: String, _ value: borrowing SecretBytes) {
    text.append(",\"\(name)\":")
    text.append(json: value)
  }

  /// Adds a member whose value is JSON already.
  mutating func add(_ name: String, json: borrowing SecretBytes) {
    text.append(",\"\(name)\":")
    text.append(json)
  }

  consuming func finished() -> SecretBytes {
    var text = text
    text.append("}")
    return text
  }

  /// What is written to the browser for a sealed answer.
  static func envelope(_ action: String, sealed: [UInt8], nonce: [UInt8]) -> String {
    #"{"action":"\#(action)","message":"\#(Base64.text(of: sealed))","nonce":"\#(Base64.text(of: nonce))"}"#
  }

  /// What is written for an answer that has no message.
  static func plain(_ members: [(String, String)]) -> String {
    var text = SecretBytes(count: 0)
    for (name, value) in members {
      text.append(text.isEmpty ? "{" : ",")
      text.append(json: name)
      text.append(":")
      text.append(json: value)
    }
    text.append("}")
    return text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}
