package import Fingerprint
package import SecretModel

/// The fingers of a store as they are now. Those of fprintd are enrolled and deleted in the desktop's settings, and belong
/// to a store that uses fprintd without any command of Whorl's.
package struct FingerLook: Sendable {
  /// The status of the store, with the fingers that fprintd has now.
  package let status: VaultStatus
  package let readers: ReaderList
  /// Why the store does not have fprintd's fingers, or they cannot be seen; nil if it has, or does not use fprintd.
  package let problem: VaultError?

  package init(at store: any VaultService) async throws(VaultError) {
    readers = try await store.readers()
    let known = try await store.status()
    guard readers.chosen?.identity.adapter.sharesFingers == true else {
      (status, problem) = (known, nil)
      return
    }
    // A change of the fingers destroys the items that are bound to the earlier ones. The next touch does that and says
    // so; listing the fingers must not.
    if known.sets.allSatisfy({ !$0.reader.adapter.sharesFingers || $0.boundItems == 0 }) {
      let problem = try await store.biometry().problem
      guard case .printsGone = problem else {
        (status, self.problem) = (try await store.status(), problem)
        return
      }
    }
    // The store keeps its set: it is bound, or all of its fingers are gone, which a fault may have caused.
    do throws(VaultError) {
      var now = known
      now.sets = try await store.presentSets()
      let gone = zip(known.sets, now.sets).first { !$0.fingers.isEmpty && $1.fingers.isEmpty }?.0.fingers
      (status, problem) = (now, gone.map { .printsGone($0.map(\.finger)) })
    } catch {
      (status, problem) = (known, error)
    }
  }

  /// The fingers of all readers.
  package var count: Int { status.sets.map(\.fingers.count).reduce(0, +) }

  /// The fingers of the reader that the store would use; nil if there is none.
  package var countHere: Int? {
    readers.chosen.map { chosen in
      status.sets.filter { $0.reader == chosen.identity }.map(\.fingers.count).reduce(0, +)
    }
  }

  /// Whether the store would use a reader of fprintd, whose name is all that fprintd says of it: another of the same kind
  /// has the same.
  package var isOfFprintd: Bool { readers.chosen?.identity.adapter.sharesFingers == true }

  /// The reader that fprintd enrols on, for this program and with the permission of the person's own session; nil if
  /// the vault enrols, after the passcode. That is so for an fprintd that a configuration names, and for a store with
  /// libfprint's fingers.
  package var readerOfFprintd: ReaderDescription? {
    guard status.adapter?.sharesFingers != false else { return nil }
    return readers.chosen.flatMap { $0.identity.adapter.sharesFingers && $0.nature == .physical ? $0 : nil }
  }
}
