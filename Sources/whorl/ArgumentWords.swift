public import ArgumentParser
public import Fingerprint
import Vault

// The values that are words on the command line.

extension Finger: ExpressibleByArgument {}

extension ReaderSelection: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
  public var defaultValueDescription: String { description }
}

extension AccessControl.Constraint: ExpressibleByArgument {}
extension Accessibility: ExpressibleByArgument {}
