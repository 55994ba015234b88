import Fingerprint
import SecretModel

extension Failure {
  init(_ error: ReaderError) {
    let absent = "LAError.biometryNotAvailable"
    switch error {
    case .absent:
      self.init(
        .unavailable, "no fingerprint reader", name: absent,
        advice: "attach it, or see 'whorl reader list' and 'whorl doctor'")
    case .fprintdFilesUnreadable(let folder):
      self.init(
        .refused,
        "fprintd's template files\(folder.map { " in \($0)" } ?? "") cannot be read, so that a finger enrolled anew could not be told from the one before",
        name: absent, advice: "bind nothing to the current set here; --access any-finger works")
    case .fprintdRefused(let words):
      self.init(
        .unavailable, "no permission, says fprintd: \(words)", name: absent, advice: FprintdFingers.advice)
    case .permissionDenied(let path):
      self.init(
        .unavailable, "no permission to open the reader\(path.map { " (\($0))" } ?? "")", name: absent,
        advice: "'make install-udev' gives it to whoever sits at the machine; 'whorl doctor' explains")
    case .busy(let holder):
      self.init(
        .tryAgain, "the reader is in use\(holder.map { " by \($0)" } ?? "")", name: absent,
        advice: "try again when it is free")
    case .removed:
      self.init(.unavailable, "the reader was unplugged", name: "LAError.biometryDisconnected", advice: "attach it")
    case .tooHot:
      self.init(
        .tryAgain, "the reader is too hot", name: absent, advice: "let it cool for some minutes, or use the passcode")
    case .cancelled:
      self = .cancelled
    case .notSupported:
      self.init(.unavailable, "this reader cannot do that", name: absent, advice: "see 'whorl reader list'")
    case .storageFull:
      self.init(
        .unavailable, "the reader's chip is full", name: absent,
        advice: "unenroll a finger, or make room with the system that filled it")
    case .notOnChip:
      self.init(
        .notFound, "the print is no longer on the reader's chip", name: absent,
        advice: "unenroll the finger and enrol it again")
    case .duplicate:
      self.init(
        .exists, "that finger is on the reader already", name: "errSecDuplicateItem",
        advice: "touch another finger, or unenroll it where it was enrolled")
    case .badTemplate:
      self.init(
        .damaged, "a stored print cannot be read", name: "errSecDecode",
        advice: "unenroll the finger and enrol it again")
    case .suspended:
      self.init(.tryAgain, "the machine went to sleep", name: "LAError.systemCancel", advice: "try again")
    case .printsChanged:
      self.init(VaultError.setChanged)
    case .processDied(let how):
      self.init(.unavailable, "the reader process ended: \(how)", name: absent, advice: "try again")
    case .fprintdUnreachable(let why):
      self.init(
        .unavailable, "fprintd cannot be reached (\(why))", name: absent,
        advice: "see 'systemctl status fprintd', or name '--reader libfprint'")
    case .cannotStart(let why):
      self.init(
        .unavailable, "the reader process cannot be started: \(why)", name: absent,
        advice: "'whorl doctor' says what is missing")
    case .notLent(let why):
      self.init(.refused, "the system service does not lend its reader: \(why)", name: absent)
    case .device(let words):
      self.init(.inputOutput, "the reader reports: \(words)", name: absent, advice: "try again")
    }
  }
}
