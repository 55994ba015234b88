import Fingerprint
import VaultStore

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
