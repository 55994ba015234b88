/// A secret that can be guessed at, and whose wrong tries are counted.
enum Guessable {
  case passcode
  /// The application password of the item with this id. Each item has a count of its own: else the right password of one
  /// would make guesses at another free.
  case applicationPassword(item: [UInt8])

  /// What a try ends with that comes too early.
  func delayed(_ seconds: Int) -> VaultError {
    switch self {
    case .passcode: .passcodeDelayed(seconds: seconds)
    case .applicationPassword: .applicationPasswordDelayed(seconds: seconds)
    }
  }
}

extension Authority {
  /// The wrong tries in a row at a secret.
  subscript(secret: Guessable) -> Tries {
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

extension Change {
  /// Counts a try as wrong before it is made.
  ///
  /// - Throws: the delay, where one runs.
  func charge(_ secret: Guessable) throws {
    let delay = authority[secret].remainingDelay(store.clock)
    guard delay == 0 else { throw secret.delayed(delay) }
    if case .applicationPassword(let item) = secret { try makeRoom(for: item) }
    authority[secret].charge(store.clock)
  }

  /// Forgets the counts of items that are gone, where there are too many to count another; refuses where there still are.
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

extension Vault {
  /// Refuses while a delay runs; under a new boot it starts again in full, and that is written down.
  func requireNoDelay(_ secret: Guessable) throws(VaultError) {
    let store = store
    let (delay, unwritten) = try store.read { moment in
      // A delay that a put-back file brought to light starts at each look until it is written down, too.
      (
        moment.authority[secret].remainingDelay(store.clock),
        moment.authority.restored || moment.authority[secret].needsNewDelay(store.clock)
      )
    }
    guard delay > 0 else { return }
    if unwritten {
      try store.commit(evenRestored: true) { change in
        if change.authority[secret].needsNewDelay(store.clock) { change.authority[secret].startDelay(store.clock) }
      }
    }
    throw secret.delayed(delay)
  }
}
