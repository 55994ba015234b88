/// Where a restricted key for SSH signs in: to a host, from this machine or from a host that the agent was forwarded to
/// (`ssh -A`).
///
/// The text is that of `ssh-add -h`: `[USER@]HOST`, or `FROM>[USER@]HOST`.
package struct SSHHostRule: Sendable, Hashable {
  /// The host that the agent was forwarded to; nil for this machine.
  package let from: String?
  /// The only user on the host; nil for any.
  package let user: String?
  /// As `known_hosts` names it.
  package let host: String

  /// Nil for text of another form.
  package init?(_ text: String) {
    let steps = text.split(separator: ">", omittingEmptySubsequences: false)
    guard steps.count <= 2, let to = steps.last else { return nil }
    let parts = to.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.last else { return nil }
    from = steps.count == 2 ? String(steps[0]) : nil
    user = parts.count == 2 ? String(parts[0]) : nil
    self.host = String(host)
    guard [from, user, self.host].allSatisfy({ $0.map(Self.isName) ?? true }) else { return nil }
  }

  package var text: String { (from.map { "\($0)>" } ?? "") + (user.map { "\($0)@" } ?? "") + host }

  /// Whether text can be a user's or host's name here. Rules are stored with commas between them.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.contains { $0 == "," || $0 == "@" || $0.isWhitespace }
  }
}
