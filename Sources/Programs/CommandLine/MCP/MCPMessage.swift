import CommandBase
import FoundationEssentials

/// A message of a client of the Model Context Protocol: JSON-RPC 2.0, one message on each line.
struct MCPMessage: Sendable {
  /// Nil for a notification, which gets no answer.
  let id: JSONValue?
  let method: String
  /// An object.
  let parameters: JSONValue

  /// The longest message, in bytes.
  static let longest = 1 << 20
  /// The most values within values.
  static let deepest = 32
  /// The most values and names of values.
  static let most = 20_000

  /// - Throws: the error with which the line is answered.
  /// - Returns: nil for the answer of a client, though this server asks for nothing.
  init?(_ line: [UInt8]) throws(MCPError) {
    guard Self.isWithinBounds(line) else { throw MCPError(.invalidRequest, "the message has too many values") }
    let value: JSONValue
    do {
      value = try JSONDecoder().decode(JSONValue.self, from: Data(line))
    } catch {
      throw MCPError(.notJSON, "the line is no JSON")
    }
    guard case .object(let fields) = value else {
      throw MCPError(.invalidRequest, "the message is no object; each line has one message")
    }
    if fields["method"] == nil, fields["result"] != nil || fields["error"] != nil { return nil }
    var id = fields["id"]
    switch id {
    case .text?, .integer?, nil: break
    default: id = .null
    }
    guard id != .null else { throw MCPError(.invalidRequest, "the id is neither a string nor a whole number") }
    guard fields["jsonrpc"] == .text("2.0"), let method = fields["method"]?.asText else {
      throw MCPError(.invalidRequest, "the message is not of JSON-RPC 2.0", of: id)
    }
    let parameters = fields["params"] ?? .object([:])
    guard case .object = parameters else {
      throw MCPError(.invalidParameters, "the parameters are no object", of: id)
    }
    (self.id, self.method, self.parameters) = (id, method, parameters)
  }

  /// Whether a line may be given to the parser, whose memory and stack grow with what is in it.
  private static func isWithinBounds(_ line: [UInt8]) -> Bool {
    var (depth, count) = (0, 0)
    var (isText, isEscaped) = (false, false)
    for byte in line {
      if isText {
        // What follows a backslash ends no text.
        let isEnd = byte == UInt8(ascii: "\"") && !isEscaped
        (isText, isEscaped) = (!isEnd, byte == UInt8(ascii: "\\") && !isEscaped)
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): (depth, count) = (depth + 1, count + 1)
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ","), UInt8(ascii: ":"): count += 1
      default: break
      }
      if depth > deepest || count > most { return false }
    }
    return true
  }
}

/// An error of the protocol. What a tool has refused is a result of the tool, which the model reads.
struct MCPError: Error {
  enum Code: Int64 {
    case notJSON = -32_700
    case invalidRequest = -32_600
    case unknownMethod = -32_601
    case invalidParameters = -32_602
    /// Defined by the protocol, from its version of 2026-07-28 on.
    case unsupportedVersion = -32_022
  }

  let code: Code
  let message: String
  /// The request that it answers; nil if that is not known.
  var id: JSONValue?
  var data: JSONValue?

  init(_ code: Code, _ message: String, of id: JSONValue? = nil, data: JSONValue? = nil) {
    (self.code, self.message, self.id, self.data) = (code, message, id, data)
  }

  var answer: JSONValue {
    var error: [String: JSONValue] = ["code": .integer(code.rawValue), "message": .text(message)]
    error["data"] = data
    return .object(["jsonrpc": .text("2.0"), "id": id ?? .null, "error": .object(error)])
  }
}
