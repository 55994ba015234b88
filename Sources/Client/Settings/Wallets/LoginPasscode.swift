internal import Primitives
package import SecretModel

/// Whether the login password and the passcode are the same, if the user has chosen that they are.
package enum LoginPasscode: Sendable, Hashable {
  /// They were the same when last compared.
  case same
  /// They were never compared: the account's password is not in this machine's files, and no login has proven it since.
  case unproven
  /// They differ. A login or a change of one of them has shown it, at this time in seconds since 1970.
  case different(since: Int64)
}

extension LoginEntries {
  /// The requests that compare the two, or change only one of them.
  private static let telling: [AuditEntry.Request] = [.loginPassword, .changePasscode, .recover, .removePasscode]

  /// The state according to the entry and the store's log since; nil if the user has not chosen the login password as
  /// the passcode.
  package func loginPasscode() async throws(VaultError) -> LoginPasscode? {
    guard let item = try await all(of: .passcode).first?.item else { return nil }
    var state = LoginPasscode.unproven
    var search = AuditSearch()
    search.requests = Self.telling
    if case .number(let proof)? = item.attributes[.loginProof] {
      state = .same
      // A new log has smaller numbers.
      if try await newestNumber() >= proof { search.after = Int(proof) }
    }
    for entry in try await log(search) {
      switch (entry.request, entry.outcome) {
      case (.loginPassword, .done): state = .same
      case (.loginPassword, .failed(let error)) where Self.shows(error): state = .different(since: entry.time)
      case (.changePasscode, .done), (.recover, .done), (.removePasscode, .done): state = .different(since: entry.time)
      default: break
      }
    }
    return state
  }

  /// Stores the choice that the login password is the passcode.
  ///
  /// - Parameter isProven: whether the two have just been compared.
  package func putLoginPasscode(isProven: Bool) async throws(VaultError) {
    var item = NewItem(LoginItem(.passcode))
    if isProven { item.attributes[.loginProof] = .number(try await newestNumber()) }
    _ = try await vault.add(item, secret: SecretBytes(count: 0), replacing: true, .nobody)
  }

  /// Whether this error means that the password is not the passcode, and not that it was not tried.
  private static func shows(_ error: VaultErrorName) -> Bool {
    [.wrongPasscode, .invalidPasscode, .guessablePasscode, .passcodeNotSet].contains(error)
  }

  private func newestNumber() async throws(VaultError) -> Int64 {
    var search = AuditSearch()
    search.last = 1
    return Int64(try await log(search).last?.number ?? 0)
  }

  /// The log; empty for a private store, which has no log and no logins.
  private func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] {
    do throws(VaultError) {
      return try await vault.log(search)
    } catch .invalidRequest {
      return []
    }
  }
}
