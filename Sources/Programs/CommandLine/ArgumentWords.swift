public import ArgumentParser
public import Fingerprint
public import SecretModel

// The values that are words on the command line.

extension Finger: ExpressibleByArgument {}

extension ReaderSelection: ExpressibleByArgument {
  /// Reads the words of `--reader`.
  public init?(argument: String) { self.init(argument) }
  /// How help shows a default.
  public var defaultValueDescription: String { description }
}

extension AccessControl.Constraint: ExpressibleByArgument {}
extension Accessibility: ExpressibleByArgument {}

extension ItemClass: ExpressibleByArgument {
  /// Reads the words of `--class`.
  public init?(argument: String) {
    guard let known = Self.allCases.first(where: { $0.word == argument }) else { return nil }
    self = known
  }
  /// The words that help and failures list.
  public static var allValueStrings: [String] { allCases.map(\.word) }
  /// How help shows a default.
  public var defaultValueDescription: String { word }
}
