/// The name of a host as `known_hosts` has it: `host.test`, or `[host.test]:2222` for another port than 22.
struct HostName {
  let host: String
  /// Nil without one.
  let port: String?

  init(_ text: String) {
    guard text.hasPrefix("["), let end = text.lastIndex(of: "]"), text[end...].hasPrefix("]:"),
      Self.isPort(text[end...].dropFirst(2))
    else {
      (host, port) = (text, nil)
      return
    }
    host = String(text[..<end].dropFirst())
    port = String(text[end...].dropFirst(2))
  }

  /// The name of a host at a port.
  static func text(_ host: String, port: String) -> String { "[\(host)]:\(port)" }

  static func isPort(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } && (UInt16(text) ?? 0) > 0
  }

  /// Whether a name in a certificate can be shown as a host name: it has only letters, digits and `.-_:%`, so it is not
  /// a pattern and cannot imitate a prompt.
  static func isPlain(_ principal: String) -> Bool {
    !principal.isEmpty
      && principal.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: ".-_:%".utf8.contains(byte)
        }
      }
  }
}
