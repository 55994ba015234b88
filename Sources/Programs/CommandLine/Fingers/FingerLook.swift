import Fingerprint
import SecretModel
import Whorl

/// The fingers of a store, after a look at those that fprintd has. They are enrolled in the desktop's settings, and belong
/// to a store that uses fprintd without any command of Whorl's.
struct FingerLook {
  let status: VaultStatus
  let readers: SecretModel.ReaderList
  /// Why fprintd's fingers are not the store's now; nil where they are, and where no look was needed.
  let problem: VaultError?

  init(at store: any VaultService) async throws(VaultError) {
    readers = try await store.readers()
    let before = try await store.status()
    // Where items are bound to the fingers of before, a change destroys them. The next touch does that and says so; a look
    // does not.
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

  /// The reader that fprintd enrols on, for this program and with the permission of the person's own session; nil where the
  /// vault enrols, after the passcode. The passcode is needed for the fingers of an fprintd that a configuration names, and
  /// for fprintd's in a store whose own are libfprint's.
  var readerOfFprintd: ReaderDescription? {
    guard status.adapter?.sharesFingers != false else { return nil }
    return readers.chosen.flatMap { $0.identity.adapter.sharesFingers && $0.nature == .physical ? $0 : nil }
  }

  /// What is to be said where there is no finger, and the words of the command that changes it.
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
