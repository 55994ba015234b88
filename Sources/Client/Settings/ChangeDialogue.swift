package import Primitives
internal import Prompts
package import SecretModel
package import Whorl

/// What a person should hear while something is changed: a terminal says it in lines, a window shows it in rows.
package struct ChangeProgress: Sendable {
  package enum Kind: Sendable {
    /// It was done, or would be.
    case done
    /// The person should know it before the next question, or afterwards.
    case hint
    /// Something is not as it was expected. A script is told that, too.
    case problem
  }

  package let kind: Kind
  package let words: String
  /// What the words are about, one by one.
  package let listed: [String]
  /// What failed, where the change went on without it.
  package private(set) var failure: Failure?

  package static func done(_ words: String, _ listed: [String] = []) -> Self {
    Self(kind: .done, words: words, listed: listed)
  }

  package static func hint(_ words: String, _ listed: [String] = []) -> Self {
    Self(kind: .hint, words: words, listed: listed)
  }

  package static func problem(_ words: String, _ listed: [String] = []) -> Self {
    Self(kind: .problem, words: words, listed: listed)
  }

  package static func failed(_ failure: Failure) -> Self {
    Self(kind: .problem, words: failure.sentence, listed: [], failure: failure)
  }
}

/// A program in which a person changes the settings: it says what happens, and asks what only the person knows. A command
/// does so at the terminal, and takes the answers of a script from descriptors.
package protocol ChangeDialogue: Sendable {
  var context: any SettingsContext { get }

  /// Told what happens, in order.
  func tell(_ progress: ChangeProgress)

  /// Asks a question that is answered by yes or no, and throws after a no.
  ///
  /// - Parameter assent: the option of a command that answers yes in advance.
  func confirm(_ question: String, assent: String) async throws(Failure)

  /// Makes a request to the store that may ask the person.
  func asking<Answer: Sendable>(
    _ manner: ChangeAsking, _ request: AskingRequest<Answer, any Error>
  ) async throws(Failure) -> Answer

  /// Opens a store that still needs its first unlock, before requests that ask nobody. Does nothing where nobody can open
  /// it; those requests then fail.
  ///
  /// - Parameter purpose: what the person does next.
  func openIfWaiting(to purpose: String) async throws(Failure)

  /// Asks for the store's passcode, for later use.
  func passcode() async throws(Failure) -> SharedSecret

  /// Whether passwords come from a script, which gives each once. A person may type one again.
  var isScripted: Bool { get }

  /// Whether anybody can be asked for a password.
  var canAskForPasswords: Bool { get }

  /// Asks for a password of something else than the store.
  ///
  /// - Parameters:
  ///   - what: such as `password of KWallet`.
  ///   - isOptional: whether a person may leave it out, with nothing typed.
  func password(_ what: String, isOptional: Bool) async throws(Failure) -> SharedSecret

  /// Asks for a new password, which a person types twice.
  func newPassword(_ what: String) async throws(Failure) -> SharedSecret

  /// Whether anybody can be asked for what opens a sealed copy.
  var canOpenCopies: Bool { get }

  /// The secret in a copy, opened with the passcode or the recovery key of its store.
  func secret(in copy: SealedCopy) async throws(Failure) -> SharedSecret

  /// Has the person open a new copy, to see that it is of use. Nil if it opens with the recovery key alone, and a person
  /// who does not have that at hand goes on without.
  ///
  /// - Parameter passcode: the store's passcode, if it is known.
  func trial(of copy: SealedCopy, knowing passcode: SharedSecret?) async throws(Failure) -> SharedSecret?
}

/// How a request of a change asks.
package struct ChangeAsking: Sendable {
  /// Why it asks; nil for the request's own reason.
  package var reason: String?
  /// Whether one touch and one passcode serve all items of the request.
  package var keepsEvidence = false
  /// The passcode, if it is known.
  package var passcode: SharedSecret?
  /// Whether nobody is asked, and nothing but ``passcode`` is shown.
  package var isSilent = false
  /// The new passcode, if it is known.
  package var newPasscode: SharedSecret?
  package var allowsGuessablePasscode = false

  package init(_ reason: String? = nil) { self.reason = reason }
}

// Passwords that are tried.
extension ChangeDialogue {
  /// Asks for a current password until it is right. A person may type it several times; a script gives it once.
  ///
  /// - Parameter proof: tries the password.
  /// - Returns: the result of the proof.
  /// - Throws: `wrongSecret` if the last one is wrong.
  func proven<Proof>(
    _ what: String, _ proof: (SharedSecret) async throws -> Proof?
  ) async throws(Failure) -> Proof {
    for attempt in 1... {
      let word = try await password(what, isOptional: false)
      do {
        if let proof = try await proof(word) { return proof }
      } catch {
        throw context.explained(error)
      }
      var wrong = Failure(WalletError.wrongSecret)
      wrong.what = "that is not the \(what)"
      guard !isScripted, attempt < attemptLimit else { throw wrong }
      tell(.problem("\(wrong.what.asSentence). Type it again."))
    }
    throw .cancelled
  }

  /// Asks for a wallet's new password. An empty one would leave the wallet open to whoever has the disk, and no wallet
  /// takes it.
  func newPasswordOfWallet(_ what: String) async throws(Failure) -> SharedSecret {
    for attempt in 1... {
      let word = try await newPassword(what)
      guard word.bytes.isEmpty else { return word }
      guard !isScripted, attempt < attemptLimit else {
        throw Failure(.refused, "the \(what) may not be empty", name: "errSecParam", advice: "nothing was changed")
      }
      tell(.problem("It may not be empty. Type it again."))
    }
    throw .cancelled
  }

  /// Asks for the password of a keyring that has one of its own.
  ///
  /// - Parameter wrong: how many answers for this keyring were wrong.
  /// - Returns: nil if the person leaves it closed, or a script has no more lines.
  func passwordOfKeyring(_ name: String, wrong: Int) async -> SharedSecret? {
    let what = "password of the keyring \(PromptLabel.text(name))"
    guard wrong < (isScripted ? 1 : attemptLimit), canAskForPasswords else { return nil }
    if wrong > 0 { tell(.problem("That is not the \(what). Type it again.")) }
    guard let word = try? await password(what, isOptional: true), !word.bytes.isEmpty else { return nil }
    return word
  }

  /// How often a person may type a password.
  var attemptLimit: Int { 3 }
}

extension String {
  /// With a capital at its beginning.
  var asSentence: String { prefix(1).uppercased() + dropFirst() }
}
