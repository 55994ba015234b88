/// All that the programs and libraries have to know of an error.
package struct ErrorDescription<Name: Sendable & Hashable>: Sendable, Hashable {
  /// The name on the bus and in the log.
  package let name: Name
  /// The associated values of the case, without those that are nil.
  package let details: [VaultErrorDetail]
  /// What it is in Apple's libraries.
  package let apple: AppleError
  /// Decides the exit status of a command.
  package let kind: FailureKind
  /// What it means to a person.
  package let explanation: Explanation

  init(
    _ name: Name, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ explanation: Explanation
  ) {
    (self.name, self.details, self.apple, self.kind) = (name, details, apple, kind)
    self.explanation = explanation
  }

  init(
    _ name: Name, _ details: [VaultErrorDetail], _ apple: AppleError, _ kind: FailureKind,
    _ what: String, advice: String, further: String? = nil, detail: String? = nil
  ) {
    self.init(name, details, apple, kind, Explanation(what, advice: advice, further: further, detail: detail))
  }
}
