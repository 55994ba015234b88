package import Primitives
import VaultStore

/// A reader lent to a program that tests it. Meanwhile no request of a vault has the desk's reader. Answers to the
/// program open no item: the vault's own scans use nonces that the program never learns.
package final class ReaderLoan: Sendable {
  private let claim: ReaderClaim
  private let lease: ReaderLease

  fileprivate init(_ claim: ReaderClaim, _ lease: ReaderLease) {
    self.claim = claim
    self.lease = lease
  }

  /// The reader's description of itself.
  package var description: ReaderDescription { lease.description }

  /// Runs an action of the reader that needs no finger.
  package func ask<T: Sendable>(
    _ question: @Sendable (any FingerprintReader) async throws -> T
  ) async throws -> T {
    try await lease.ask(question)
  }

  /// Runs an action that waits for fingers. The next request waits until the last finger has left the sensor.
  package func scan<T: Sendable>(
    _ observer: @escaping ScanObserver,
    _ question: @Sendable (any FingerprintReader, @escaping ScanObserver) async throws -> T
  ) async throws -> T {
    let lift = lease.beginScan()
    return try await lease.ask { reader in
      try await question(reader) { event in
        lift.note(event)
        observer(event)
      }
    }
  }

  /// Gives the reader back. Call it once.
  package func end() { claim.end(.succeeded) }
}

extension ReaderDesk {
  /// The readers that can be lent: those of libfprint. fprintd serves its own to other programs itself.
  package func lendable() async throws(VaultError) -> [ReaderDescription] {
    try await readers(drivenBy: .libfprint)
  }

  /// Waits until nobody has the reader, and lends it. Throws `cancelled` if the task is cancelled.
  package func lend(_ id: String, to caller: Caller) async throws -> ReaderLoan {
    let applicant = ReaderApplicant(caller: caller, purpose: nil, isLoan: true)
    let claim = try await claim(for: applicant, storeLock: nil, told: { _ in })
    do {
      guard let wanted = try await lendable().first(where: { $0.id == id }) else { throw ReaderError.absent }
      try await claim.lock(wanted, told: {})
      return ReaderLoan(claim, try await claim.open(wanted, for: .own))
    } catch {
      claim.end(.failed)
      throw error
    }
  }
}
