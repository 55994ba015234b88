package import SecretModel
internal import SecureMemory

/// Whether the login password is the passcode, where the user has chosen that it is.
package enum LoginPasscode: Sendable, Hashable {
  /// It was when they were last compared.
  case same
  /// Nobody has compared them: the account's password is not in this machine's files, and no login has shown it since.
  case unproven
  /// They are two. A login or a change of one of them has shown it, at this time in seconds since 1970.
  case different(since: Int64)
}

extension LoginEntries {
  /// The requests that show whether the two are one, or that change one of them alone.
  private static let telling: [AuditEntry.Request] = [.loginPassword, .changePasscode, .recover, .removePasscode]

  /// How the two stand, by the proof in the entry and by the store's log since; nil where the user has not chosen that
  /// they are one.
  package func loginPasscode() async throws(VaultError) -> LoginPasscode? {
    guard let item = try await all(of: .passcode).first?.item else { return nil }
    var state = LoginPasscode.unproven
    var search = AuditSearch()
    search.requests = Self.telling
    if case .number(let proof)? = item.attributes[.loginProof] {
      state = .same
      // A log that begins anew has smaller numbers.
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

  /// Whether this error says that the password is not the passcode. Others say that it was not tried.
  private static func shows(_ error: VaultErrorName) -> Bool {
    [.wrongPasscode, .invalidPasscode, .guessablePasscode, .passcodeNotSet].contains(error)
  }

  private func newestNumber() async throws(VaultError) -> Int64 {
    var search = AuditSearch()
    search.last = 1
    return Int64(try await log(search).last?.number ?? 0)
  }

  /// The log; empty for a private store, which has none, and at which nobody logs in.
  private func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] {
    do throws(VaultError) {
      return try await vault.log(search)
    } catch .invalidRequest {
      return []
    }
  }
}
