/// The rules for a name that a person writes.
extension ItemName {
  /// Refuses an empty service, control characters, and parts over ``limit`` bytes.
  public init(service: String, account: String = "") throws(VaultError) {
    guard !service.isEmpty else { throw .invalidName("the service is empty") }
    for (part, text) in [("service", service), ("account", account)] {
      guard text.utf8.count <= Self.limit else {
        throw .invalidName("the \(part) is longer than \(Self.limit) bytes")
      }
      guard !text.hasControlCharacters else {
        throw .invalidName("the \(part) has a control character in it")
      }
    }
    self.service = service
    self.account = account
  }

  /// Reads `SERVICE[/ACCOUNT]`: the first slash splits, so an account may hold slashes and a service may not.
  public init(parsing text: String) throws(VaultError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    try self.init(service: String(parts[0]), account: parts.count == 2 ? String(parts[1]) : "")
  }
}
