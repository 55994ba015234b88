package import Primitives
import VaultStore

/// The proofs for one call, and the reader that the call still holds. Using it consumes it.
///
/// Only this module can make evidence of a finger or a passcode.
package struct Evidence: ~Copyable {
  private let proofs: GivenProofs
  /// The application passwords, not checked yet, one for each need; nil for a need without one.
  package let passwords: [SharedSecret?]
  private var reader: HeldReader?
  /// The context of the call; nil for a call that asks for nothing.
  private let context: Context?

  /// Evidence for items that ask for nothing.
  package init() {
    proofs = GivenProofs()
    passwords = []
    reader = nil
    context = nil
  }

  init(
    _ proofs: GivenProofs, in context: Context, passwords: [SharedSecret?] = [], reader: consuming HeldReader? = nil
  ) {
    self.proofs = proofs
    self.passwords = passwords
    self.reader = reader
    self.context = context
  }

  /// Returns the proofs.
  ///
  /// - Throws: the reason if the call was cancelled or its context closed since.
  package func current() throws(VaultError) -> GivenProofs {
    try context?.requireRunning()
    return proofs
  }

  /// Gives the reader back after success. Destroying the evidence without this call counts as a failure.
  package consuming func succeed() { giveReaderBack() }

  /// Gives the reader back early, before a long check of passwords.
  package mutating func giveReaderBack() {
    if let held = reader.take() { held.succeed() }
  }
}

/// What must still be asked for before items are released together, or a policy is satisfied.
struct AuthenticationPlan {
  private let open: [Requirement]

  /// - Parameter requirements: those that the evidence does not satisfy yet.
  init(_ requirements: [Requirement]) { open = requirements }

  var isSatisfied: Bool { open.isEmpty }
  /// Whether the passcode is needed in any case.
  var needsPasscode: Bool { open.contains { $0.always(.passcode, .passcodeGate) } }
  /// Whether the passcode alone is enough for all of them.
  var passcodeSuffices: Bool {
    open.allSatisfy { $0.alternatives.contains { $0.isSubset(of: [.passcode, .passcodeGate]) } }
  }
}

/// A request's turn at the reader. The next request gets the reader when this value is destroyed.
struct ReaderTurn: ~Copyable {
  let claim: ReaderClaim
  private let context: Context
  private var hasSucceeded = false

  init(_ claim: ReaderClaim, in context: Context) {
    self.claim = claim
    self.context = context
  }

  /// Ends the turn of a request that has succeeded.
  consuming func succeed() { hasSucceeded = true }

  deinit { claim.end(hasSucceeded ? .succeeded : context.isGivenUp ? .cancelled : .failed) }
}

/// The open reader of one request. Destroying this value gives it back, without waiting until the device is closed.
struct HeldReader: ~Copyable {
  private let turn: ReaderTurn
  let lease: ReaderLease

  init(_ turn: consuming ReaderTurn, _ lease: ReaderLease) {
    self.turn = turn
    self.lease = lease
  }

  /// Gives the reader back after the request has succeeded.
  consuming func succeed() { turn.succeed() }
}
