package import Fingerprint

/// What `auto` stands for in this store. It is recorded with the first finger and changed by command alone: fingers
/// enrolled in the desktop's settings later, or an fprintd that comes or goes, strand nothing.
extension Vault {
  /// The readers attached, and the one that this store would use.
  func readerList() async -> ReaderList { await readers.list() }

  /// The recorded choice; nil before any finger was enrolled.
  package func adapter() throws(VaultError) -> ReaderAdapter? {
    try store.read { moment in moment.authority.adapter }
  }

  /// Changes the recorded choice, after the passcode (the recovery key where none is set): who may enrol a finger
  /// through fprintd is polkit's decision.
  ///
  /// Nothing is taken out of any set, and what is bound to one stays with its reader; but the fingers of an fprintd that a
  /// configuration puts in the place of the machine's own are taken over here, as they are now.
  ///
  /// - Parameter adapter: nil forgets the choice: the next enrolment records another.
  func use(_ adapter: ReaderAdapter?, _ request: Request) async throws(VaultError) {
    let store = store
    guard try self.adapter() != adapter || adapter == .fprintd else { return }
    try await asking(request) { context throws(VaultError) in
      try await self.authorizeChange(context)
      try store.commit { change in change.authority.adapter = adapter }
      if adapter == .fprintd { try await self.fprintd.accept(context) }
    }
  }
}
