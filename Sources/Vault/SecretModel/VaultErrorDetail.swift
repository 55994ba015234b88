package import Fingerprint

/// An associated value of an error, in the forms that cross the bus.
package enum VaultErrorDetail: Sendable, Hashable {
  /// Text of a program or a person.
  case text(String)
  case number(Int)
  /// The raw value of an enumeration.
  case word(String)
  /// The raw values of an enumeration.
  case words([String])
  case item(ItemName)
  case reader(ReaderError)
}

/// The details that came with the name of an error.
package struct VaultErrorDetails: Sendable {
  /// Nil for those that could not be read.
  private let values: [VaultErrorDetail?]

  package init(_ values: [VaultErrorDetail?]) { self.values = values }

  var isEmpty: Bool { values.isEmpty }

  private var first: VaultErrorDetail? { values.first ?? nil }

  var text: String? { if case .text(let text)? = first { text } else { nil } }
  var number: Int? { if case .number(let number)? = first { number } else { nil } }
  var item: ItemName? { if case .item(let name)? = first { name } else { nil } }
  var reader: ReaderError? { if case .reader(let error)? = first { error } else { nil } }

  func word<Word: RawRepresentable>() -> Word? where Word.RawValue == String {
    if case .word(let word)? = first { Word(rawValue: word) } else { nil }
  }

  func words<Word: RawRepresentable>() -> [Word]? where Word.RawValue == String {
    guard case .words(let words)? = first else { return nil }
    let known = words.compactMap { Word(rawValue: $0) }
    return known.count == words.count ? known : nil
  }

  /// A word and a text, and nothing more.
  func wordAndText<Word: RawRepresentable>() -> (Word, String)? where Word.RawValue == String {
    guard values.count == 2, let word: Word = word(), case .text(let text)? = values[1] else { return nil }
    return (word, text)
  }
}
