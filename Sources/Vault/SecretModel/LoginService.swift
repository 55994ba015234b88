package import Primitives

// Logins: the calls of the PAM module, and the secrets that are handed over at login.

/// The calls of the PAM module when a person logs in, authenticates with a finger, or changes the account's password.
/// Secrets stay in the service: an answer is one word.
package protocol LoginService: Sendable {
  /// Reports that a person has logged in. Opens `after-first-unlock` of the user's store if its rule lets a login open
  /// it, or if the user has chosen the login password as the passcode (``LoginItem/Kind/passcode``) and the password is
  /// right.
  ///
  /// - Parameters:
  ///   - session: logind's name of the session.
  ///   - pamService: the PAM service of the login program, for the journal.
  ///   - password: the password typed for this login; nil if none was typed.
  /// - Throws: ``LoginRefusal``.
  func openSession(
    _ session: String, of user: UInt32, by pamService: String, password: consuming SecretBytes?
  ) async throws(LoginRefusal) -> LoginAnswer

  /// What the person must provide at a login that opens the store: ``LoginOutcome/password`` while a finger would not
  /// be enough, else ``LoginOutcome/any``.
  func firstFactor(of user: UInt32) async throws(LoginRefusal) -> LoginOutcome

  /// Asks for a finger, to authenticate a user to a login program, or to a program of the user's own that unlocks the screen.
  ///
  /// - Parameter caller: the user whose finger is wanted, and the program that asks, with its ``Caller/login``.
  /// - Throws: ``LoginRefusal``.
  func verify(_ caller: Caller) async throws(LoginRefusal) -> LoginAnswer

  /// Reports that the password of an account was changed. Changes the passcode as well if the user has chosen that they
  /// are the same.
  ///
  /// - Parameter old: the old password; nil if it was not typed, as when root sets a new one.
  /// - Throws: ``LoginRefusal``.
  func changePassword(of user: UInt32, from old: consuming SecretBytes?, to new: consuming SecretBytes)
    async throws(LoginRefusal) -> LoginAnswer
}

/// The answer to a request of the PAM module.
package enum LoginAnswer: Sendable {
  case settled(LoginOutcome)
  /// A passcode is being tried with scrypt, which is slow. The task ends even if nobody waits for it.
  case trying(Task<LoginOutcome, Never>)
  /// A finger will be asked for.
  case verifying(any LoginVerification)
}

/// A running request for a finger for the PAM module.
package protocol LoginVerification: Sendable {
  /// The next step. Show a prompt before calling this again: the call arms the reader. One call at a time.
  func next() async -> LoginStep
  /// Ends the request: nobody waits for it any more.
  func end() async
}

/// A step of a request for a finger.
package enum LoginStep: Sendable, Hashable {
  case prompt(LoginPrompt)
  case settled(LoginOutcome)
}

/// A prompt before a touch, with its word on the bus.
package enum LoginPrompt: String, Sendable, CaseIterable {
  case touch
  /// Touch again: the last touch could not be read.
  case retry
  /// Touch again: the last touch did not match.
  case otherFinger = "other-finger"
  /// The same for a swipe reader.
  case swipe
  case retrySwipe = "retry-swipe"
  case otherFingerSwipe = "other-finger-swipe"

  /// The same prompt for this kind of reader.
  package func on(_ scanType: ReaderDescription.ScanType) -> Self {
    switch (self, scanType) {
    case (.touch, .swipe): .swipe
    case (.retry, .swipe): .retrySwipe
    case (.otherFinger, .swipe): .otherFingerSwipe
    default: self
    }
  }
}

/// The result of a request of the PAM module, with its word on the bus.
package enum LoginOutcome: String, Sendable, CaseIterable {
  /// `after-first-unlock` is open.
  case open
  /// `after-first-unlock` is closed: the passcode is needed, or the one that was tried is wrong.
  case closed
  /// The same, because the password of the login is not the passcode, although the user has chosen that it is.
  case notPasscode = "not-passcode"
  /// The user has no store.
  case noStore = "no-store"
  /// Only a login with the password opens the store: it is closed, and the user has chosen the login password as the
  /// passcode.
  case password
  /// A login with the password opens no more than one with a finger.
  case any
  /// The passcode was changed to the new password.
  case changed
  /// The user has not chosen that the login password is the passcode.
  case notChosen = "not-chosen"
  /// The passcode was not changed: the old password was not given or is not the passcode.
  case kept
  /// The passcode was not changed: the new password is too short or too long for a passcode.
  case unfit
  /// An enrolled finger of the user matched in this request.
  case verified
  /// No touch matched.
  case noMatch = "no-match"
  /// Fingers are locked out.
  case lockedOut = "locked-out"
  /// No finger can be asked for, or nobody touched the reader.
  case noFinger = "no-finger"
}

/// Why a request of the PAM module is not served.
package enum LoginRefusal: Error, Sendable, Hashable {
  /// logind does not know the session, or it is another user's, remote, or not a person's.
  case noSuchLogin
  /// The program is not root's, and asks for more than a finger of its own user.
  case denied
  /// The store or the machine failed.
  case failed(VaultError)
}

/// A login entry of a store: names a target to which a secret is handed over when the user logs in.
///
/// It is stored as a generic password of the group ``accessGroup``. Its service is the kind of target and its account
/// is the target's name. It is open from the first unlock on, and needs no prompt.
package struct LoginItem: Sendable, Hashable {
  /// The access group of all login entries.
  package static let accessGroup = "org.whorl.login"

  /// The kinds of targets, with their names on the command line.
  package enum Kind: String, Sendable, CaseIterable {
    /// A keyring of GNOME Keyring. The secret is the password of its file.
    case gnomeKeyring = "gnome-keyring"
    /// A wallet of KWallet. The secret is the 56-byte key derived from its password.
    case kwallet
    /// A variable in the environment of the user's service manager.
    case environment
    /// A file in the user's runtime directory.
    case file
    /// A command that reads the secret from its standard input.
    case command
    /// Records the user's choice that the login password is the passcode. The secret is empty.
    case passcode

    /// Whether the entry delivers the secret of another item, its ``LoginItem/source``.
    package var deliversAnotherItem: Bool {
      switch self {
      case .environment, .file, .command: true
      case .gnomeKeyring, .kwallet, .passcode: false
      }
    }
  }

  /// The kind of target.
  package var kind: Kind
  /// The target's name: the keyring, the wallet, the variable, the path, the command line; empty for ``Kind/passcode``.
  package var name: String
  /// The item whose secret is delivered; nil if the entry holds the secret itself.
  package var source: ItemID?

  package init(_ kind: Kind, name: String = "", source: ItemID? = nil) {
    self.kind = kind
    self.name = name
    self.source = source
  }

  /// The login entry stored in an item; nil for any other item.
  package init?(_ item: Item) {
    guard item.itemClass == .genericPassword, item.attributes[.accessGroup] == .text(Self.accessGroup),
      case .text(let service)? = item.attributes[.service], let kind = Kind(rawValue: service)
    else { return nil }
    switch item.attributes[.account] {
    case .text(let name)?: self.name = name
    case nil: self.name = ""
    case .bytes, .number, .date: return nil
    }
    self.kind = kind
    if case .bytes(let id)? = item.attributes[.loginSource] { source = ItemID(bytes: id) }
    guard (source != nil) == kind.deliversAnotherItem else { return nil }
  }

  fileprivate var attributes: [AttributeName: AttributeValue] {
    var attributes: [AttributeName: AttributeValue] = [
      .service: .text(kind.rawValue), .accessGroup: .text(Self.accessGroup),
    ]
    if !name.isEmpty { attributes[.account] = .text(name) }
    return attributes
  }
}

extension NewItem {
  /// The item that stores a login entry.
  package init(_ entry: LoginItem) {
    var attributes = entry.attributes
    attributes[.loginSource] = entry.source.map { .bytes($0.bytes) }
    self.init(.genericPassword, attributes, access: .none, accessibility: .afterFirstUnlock)
  }
}

extension ItemSearch {
  /// A search for the entry of this kind and name, whatever its source.
  package init(_ entry: LoginItem) {
    var attributes = entry.attributes
    attributes[.account] = .text(entry.name)
    self.init(.genericPassword, attributes, groups: .named([LoginItem.accessGroup]))
  }

  /// A search for all login entries of one kind; nil for every kind.
  package init(loginItemsOf kind: LoginItem.Kind?) {
    self.init(
      .genericPassword, kind.map { [.service: .text($0.rawValue)] } ?? [:], groups: .named([LoginItem.accessGroup]))
  }
}

extension AttributeName {
  /// The id of the item whose secret a login entry delivers (``LoginItem/source``); Whorl's own.
  package static let loginSource = Self(rawValue: "whorl.login.source")
  /// In the entry ``LoginItem/Kind/passcode``: the number of the log's newest entry when the login password was last
  /// found to be the passcode; Whorl's own. Missing if they could not be compared.
  package static let loginProof = Self(rawValue: "whorl.login.proof")
}

/// KWallet's derivation of a wallet's key from its password (`kwallet_hash` of kwallet-pam: PBKDF2 with HMAC-SHA512).
package enum WalletKey {
  /// The length of the key, in bytes.
  package static let byteCount = 56
  /// The length of the salt file beside the wallet, in bytes.
  package static let saltCount = 56
  package static let rounds = 50_000
}
