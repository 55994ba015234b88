public import ArgumentParser
public import Fingerprint
import Vault

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
