import Fingerprint
import SecretModel
import Whorl

/// The fingers of a store, updated from fprintd. Fingers that are enrolled in the desktop's settings belong to a store
/// that uses fprintd without any command of Whorl's.
struct FingerLook {
  let status: VaultStatus
  let readers: SecretModel.ReaderList
  /// Why the store does not have fprintd's fingers; nil if it has, or does not use fprintd.
  let problem: VaultError?

  init(at store: any VaultService) async throws(VaultError) {
    readers = try await store.readers()
    let before = try await store.status()
    // A change of the fingers destroys the items that are bound to the earlier ones. The next touch does that and says
    // so; listing the fingers must not.
    guard readers.chosen?.identity.adapter.sharesFingers == true,
      before.sets.allSatisfy({ !$0.reader.adapter.sharesFingers || $0.boundItems == 0 })
    else {
      (status, problem) = (before, nil)
      return
    }
    problem = try await store.biometry().problem
    status = try await store.status()
  }

  /// The fingers of all readers.
  var count: Int { status.sets.map(\.fingers.count).reduce(0, +) }

  /// The fingers of the reader that the store would use; nil if there is none.
  var countHere: Int? {
    readers.chosen.map { chosen in
      status.sets.filter { $0.reader == chosen.identity }.map(\.fingers.count).reduce(0, +)
    }
  }

  /// Whether the store would use a reader of fprintd, whose name is all that fprintd says of it: another of the same kind
  /// has the same.
  var isOfFprintd: Bool { readers.chosen?.identity.adapter.sharesFingers == true }

  /// The reader that fprintd enrols on, for this program and with the permission of the person's own session; nil if
  /// the vault enrols, after the passcode. That is so for an fprintd that a configuration names, and for a store with
  /// libfprint's fingers.
  var readerOfFprintd: ReaderDescription? {
    guard status.adapter?.sharesFingers != false else { return nil }
    return readers.chosen.flatMap { $0.identity.adapter.sharesFingers && $0.nature == .physical ? $0 : nil }
  }

  /// The message for a store without fingers, and the command that enrols one.
  var absence: (words: String, command: [String]) {
    switch problem {
    case .fingersNotAccepted?: ("fprintd's are not accepted with the passcode yet", ["reader", "use", "fprintd"])
    case .reader(let error)? where error != .absent:
      ("those in fprintd cannot be seen now: \(Failure(error).what)", ["enroll"])
    default: ("none enrolled", ["enroll"])
    }
  }

  /// ``absence`` as advice.
  var advice: String {
    "'whorl \(absence.command.joined(separator: " "))' \(absence.command == ["enroll"] ? "enrols one" : "accepts them")"
  }
}
