package import Primitives
package import SecretModel
package import Whorl

/// The fingers of a store as they are now. Those of fprintd are enrolled and deleted in the desktop's settings, and belong
/// to a store that uses fprintd without any command of Whorl's.
package struct FingerLook: Sendable {
  /// The status of the store, with the fingers that fprintd has now.
  package let status: VaultStatus
  package let readers: SecretModel.ReaderList
  /// Why the store does not have fprintd's fingers, or they cannot be seen; nil if it has, or does not use fprintd.
  package let problem: VaultError?

  package init(_ context: some SettingsContext) async throws(Failure) {
    let store = try await context.openStore()
    self = try await context.explained { () async throws(VaultError) in try await Self(at: store) }
  }

  package init(at store: SecretStore) async throws(VaultError) {
    self = try await store.call { vault throws(VaultError) in
      let readers = try await vault.readers()
      let known = try await vault.status()
      guard readers.chosen?.identity.adapter.sharesFingers == true else {
        return Self(status: known, readers: readers, problem: nil)
      }
      // A change of the fingers destroys the items that are bound to the earlier ones. The next touch does that and says
      // so; listing the fingers must not.
      if known.sets.allSatisfy({ !$0.reader.adapter.sharesFingers || $0.boundItems == 0 }) {
        let problem = try await vault.biometry().problem
        guard case .printsGone = problem else {
          return Self(status: try await vault.status(), readers: readers, problem: problem)
        }
      }
      // The store keeps its set: it is bound, or all of its fingers are gone, which a fault may have caused.
      do throws(VaultError) {
        var now = known
        now.sets = try await vault.presentSets()
        let gone = zip(known.sets, now.sets).first { !$0.fingers.isEmpty && $1.fingers.isEmpty }?.0.fingers
        return Self(status: now, readers: readers, problem: gone.map { .printsGone($0.map(\.finger)) })
      } catch {
        return Self(status: known, readers: readers, problem: error)
      }
    }
  }

  private init(status: VaultStatus, readers: SecretModel.ReaderList, problem: VaultError?) {
    (self.status, self.readers, self.problem) = (status, readers, problem)
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

  /// The message for a store without fingers, and the command that enrols one.
  package var absence: (words: String, command: [String]) {
    switch problem {
    case .printsGone?:
      ("none: those of this store were deleted in the desktop's settings or with fprintd-delete", ["enroll"])
    case .fingersNotAccepted?: ("fprintd's are not accepted with the passcode yet", ["reader", "use", "fprintd"])
    case .reader(let error)? where error != .absent:
      ("those in fprintd cannot be seen now: \(Failure(error).what)", ["enroll"])
    default: ("none enrolled", ["enroll"])
    }
  }

  /// ``absence`` as advice.
  package var advice: String {
    "'whorl \(absence.command.joined(separator: " "))' \(absence.command == ["enroll"] ? "enrols one" : "accepts them")"
  }
}
