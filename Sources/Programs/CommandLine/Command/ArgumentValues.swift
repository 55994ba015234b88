// Parses values of the command line.

public import ArgumentParser
public import Primitives
public import SecretModel

extension Finger: ExpressibleByArgument {}

extension AccessControl.Constraint: ExpressibleByArgument {}
extension Accessibility: ExpressibleByArgument {}

extension ItemClass: ExpressibleByArgument {
  /// Parses the value of `--class`.
  public init?(argument: String) {
    guard let known = Self.allCases.first(where: { $0.word == argument }) else { return nil }
    self = known
  }
  /// The values that help and errors list.
  public static var allValueStrings: [String] { allCases.map(\.word) }
  /// The default's text in help.
  public var defaultValueDescription: String { word }
}

extension KeyAlgorithm: ExpressibleByArgument {
  /// Parses the value of `--type`.
  package init?(argument: String) {
    guard let algorithm = Self(word: argument), Self.offered.contains(algorithm) else { return nil }
    self = algorithm
  }
  /// The values that help and errors list.
  package static var allValueStrings: [String] { offered.map(\.word) }
  /// The default's text in help.
  package var defaultValueDescription: String { word }
}

extension AgePublicKey: ExpressibleByArgument {
  /// Parses the value of `--to`.
  public init?(argument: String) { self.init(parsing: argument) }
}
