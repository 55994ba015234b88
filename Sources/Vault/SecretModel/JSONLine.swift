internal import FoundationEssentials

/// A line of JSON: one value, with sorted keys, and a newline. For data without secrets.
package enum JSONLine {
  package static func line(_ value: some Encodable) throws(VaultError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    do {
      return Array(try encoder.encode(value)) + [UInt8(ascii: "\n")]
    } catch {
      throw .internalError("a line of JSON: \(error)")
    }
  }

  private static let decoder = {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }()

  /// - Throws: `fileUnreadable` for anything else.
  package static func read<Value: Decodable>(
    _ line: [UInt8], as type: Value.Type = Value.self
  ) throws(VaultError) -> Value {
    do {
      return try decoder.decode(type, from: Data(line))
    } catch {
      throw .otherContents
    }
  }
}

extension VaultError {
  /// An encrypted file without items, or with some of a later version.
  package static let otherContents = fileUnreadable("it does not hold items of whorl, or those of a later version")
}

/// Bytes as base64 in JSON.
package struct JSONBytes: Codable, Sendable, Hashable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package init(from decoder: any Decoder) throws {
    bytes = Array(try decoder.singleValueContainer().decode(Data.self))
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Data(bytes))
  }
}
