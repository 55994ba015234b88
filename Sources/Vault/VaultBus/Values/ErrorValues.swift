internal import Primitives
internal import ReaderBus
package import SDBus
package import SecretModel

extension VaultError {
  /// A message that cannot be read.
  static func unreadable(_ what: String) -> VaultError { .invalidRequest("\(what) cannot be read") }

  /// The error for a value that cannot be read.
  init(ofReading error: any Error) {
    self =
      switch error {
      case let error as VaultError: error
      case BusValueError.unreadable(let what): .unreadable(what)
      case BusValueError.unknownField(let field, let type):
        .versionMismatch("the vault does not know \(field) of \(type): it is older than this program")
      case let failure as SealedFile.Failure: VaultError(failure)
      default: .unreadable("a message")
      }
  }

  /// Reads or writes values, and throws a `VaultError` where they cannot be.
  static func ofReading<Value: ~Copyable>(_ read: () throws -> Value) throws(VaultError) -> Value {
    do { return try read() } catch { throw VaultError(ofReading: error) }
  }
}

extension VaultErrorDetail {
  fileprivate var busValue: BusValue {
    switch self {
    case .text(let text): text.busValue
    case .number(let number): number.busValue
    case .word(let word): .string(word)
    case .words(let words): words.map(Word.init).busValue
    case .item(let name): name.busValue
    case .reader(let error): error.busValue
    }
  }

  /// Nil for a value that is no detail of an error.
  fileprivate init?(bus value: BusValue) {
    switch value {
    case .bytes: if let text = try? String(bus: value) { self = .text(text) } else { return nil }
    case .int64: if let number = try? Int(bus: value) { self = .number(number) } else { return nil }
    case .string(let word): self = .word(word)
    case .array("s", let words): self = .words(words.compactMap(\.asString))
    case .structure:
      if let name = try? ItemName(bus: value) {
        self = .item(name)
      } else if let error = try? ReaderError(bus: value) {
        self = .reader(error)
      } else {
        return nil
      }
    default: return nil
    }
  }
}

extension VaultError {
  /// The name of the D-Bus error, and its arguments after the text: the case's associated values without nils.
  package var busForm: (name: VaultErrorName, details: [BusValue]) {
    let described = described
    return (described.name, described.details.map(\.busValue))
  }

  /// The error that a vault answered with. An unknown one is from a vault of another version.
  package init(busName: String, message: String, details: [BusValue]) {
    if busName.hasPrefix(VaultInterface.errorPrefix),
      let name = VaultErrorName(word: String(busName.dropFirst(VaultInterface.errorPrefix.count))),
      let known = VaultError(name, VaultErrorDetails(details.map { VaultErrorDetail(bus: $0) }))
    {
      self = known
    } else {
      self = .versionMismatch("the vault answered \(busName): \(message)")
    }
  }
}

/// An error inside an answer or an event: its name and its associated values.
extension VaultError: BusCodable {
  package static var busSignature: String { "(sav)" }

  package var busValue: BusValue {
    let (name, details) = busForm
    return .structure([.string(name.word), .array(of: "v", details.map { .variant($0) })])
  }

  package init(bus value: BusValue) throws {
    guard let parts = value.asStructure, parts.count == 2, let name = parts[0].asString, let details = parts[1].asArray
    else { throw BusValueError.unreadable(Self.self) }
    self.init(
      busName: VaultInterface.errorPrefix + name, message: "", details: details.compactMap(\.asVariant))
  }
}
