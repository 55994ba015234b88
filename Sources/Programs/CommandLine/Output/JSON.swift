import FoundationEssentials

/// The JSON form of a result. Used only with `--json`.
enum JSON {
  static func text(_ value: some Encodable) throws(Failure) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .defect(error)
    }
  }

  static func print(_ value: some Encodable) throws(Failure) {
    try StandardOutput.line(text(value))
  }
}
