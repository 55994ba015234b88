extension Authority {
  /// The wrong tries in a row for a secret.
  package subscript(secret: Guessable) -> Tries {
    get {
      switch secret {
      case .passcode: lockout.passcode
      case .applicationPassword(let item): passwords[item] ?? Tries()
      }
    }
    set {
      switch secret {
      case .passcode: lockout.passcode = newValue
      case .applicationPassword(let item): passwords[item] = newValue == Tries() ? nil : newValue
      }
    }
  }

  /// The most items whose wrong application passwords are counted.
  static let passwordLimit = 256
}

extension StoreTransaction {
  /// Counts a try as wrong before it is made.
  ///
  /// - Throws: the delay, if one is running.
  package func charge(_ secret: Guessable) throws {
    let delay = authority[secret].remainingDelay(store.clock)
    guard delay == 0 else { throw secret.delayed(delay) }
    if case .applicationPassword(let item) = secret { try makeRoom(for: item) }
    authority[secret].charge(store.clock)
  }

  /// At the limit, drops the counts of items that no longer exist. Throws if there is still no room.
  private func makeRoom(for item: [UInt8]) throws {
    guard authority.passwords[item] == nil, authority.passwords.count >= Authority.passwordLimit else { return }
    for counted in authority.passwords.keys where try self.item(counted)?.dead ?? true {
      authority.passwords[counted] = nil
    }
    guard authority.passwords.count < Authority.passwordLimit else {
      throw VaultError.busy("wrong passwords were given for \(Authority.passwordLimit) other items: remove those")
    }
  }
}

extension Store {
  /// Throws during a delay. After a reboot the delay restarts in full, which is recorded.
  package func requireNoDelay(_ secret: Guessable) throws(VaultError) {
    let (delay, unwritten) = try read { snapshot in
      // After a restore the delay is not stored yet and would restart at every check, so record it as well.
      (
        snapshot.authority[secret].remainingDelay(clock),
        snapshot.authority.restored || snapshot.authority[secret].needsNewDelay(clock)
      )
    }
    guard delay > 0 else { return }
    if unwritten {
      try commit(evenRestored: true) { change in
        if change.authority[secret].needsNewDelay(clock) { change.authority[secret].startDelay(clock) }
      }
    }
    throw secret.delayed(delay)
  }
}
