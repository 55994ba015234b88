package import Fingerprint

/// The description of an error, for programs and libraries.
package struct VaultErrorDescription: Sendable, Hashable {
  /// The name on the bus and in the log.
  package let name: VaultErrorName
  /// The associated values of the case, without those that are nil.
  package let details: [VaultErrorDetail]
  /// What it is in Apple's libraries.
  package let apple: AppleError
  /// Decides the exit status of a command.
  package let kind: FailureKind
  /// What it means to a person.
  package let explanation: Explanation

  init(
    _ name: VaultErrorName, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ explanation: Explanation
  ) {
    (self.name, self.details, self.apple, self.kind) = (name, details, apple, kind)
    self.explanation = explanation
  }

  init(
    _ name: VaultErrorName, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ what: String, advice: String, detail: String? = nil
  ) {
    self.init(name, details, apple, kind, Explanation(what, advice: advice, detail: detail))
  }
}

extension VaultError {
  /// All that is known of the error.
  package var described: VaultErrorDescription { .of(self) }
  /// The name of the error, without its associated values.
  package var name: VaultErrorName { described.name }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }

  /// The error with this name and these details; nil if the details do not fit the error.
  package init?(_ name: VaultErrorName, _ details: VaultErrorDetails) {
    guard let error = Self.makers.error(name, details) else { return nil }
    self = error
  }
}

extension VaultErrorName {
  /// The name on the bus, behind a prefix, and in the log: "ItemGone".
  package var word: String { self == .tpm ? "TPM" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  private static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.word, $0) })

  /// Nil for an unknown word.
  package init?(word: String) {
    guard let name = Self.byWord[word] else { return nil }
    self = name
  }
}

/// An associated value of an error, in the forms that are sent over the bus.
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

  /// Exactly a word and a text.
  func wordAndText<Word: RawRepresentable>() -> (Word, String)? where Word.RawValue == String {
    guard values.count == 2, let word: Word = word(), case .text(let text)? = values[1] else { return nil }
    return (word, text)
  }
}

/// Makes errors from their names and details.
struct VaultErrorMakers: Sendable {
  typealias Maker = @Sendable (VaultErrorDetails) -> VaultError?

  private let makers: [VaultErrorName: Maker]

  /// - Parameters:
  ///   - plain: the errors without details.
  ///   - texts: those with one text.
  ///   - numbers: those with one number.
  ///   - items: those with the name of an item.
  ///   - others: a function for each of the others.
  init(
    plain: [VaultError], texts: [@Sendable (String) -> VaultError], numbers: [@Sendable (Int) -> VaultError],
    items: [@Sendable (ItemName) -> VaultError], others: [VaultErrorName: Maker]
  ) {
    var makers = others
    for error in plain { makers[error.name] = { _ in error } }
    for make in texts { makers[make("").name] = { $0.text.map(make) } }
    for make in numbers { makers[make(0).name] = { $0.number.map(make) } }
    for make in items { makers[make(ItemName(unchecked: "", account: "")).name] = { $0.item.map(make) } }
    self.makers = makers
  }

  func error(_ name: VaultErrorName, _ details: VaultErrorDetails) -> VaultError? { makers[name]?(details) }
}
