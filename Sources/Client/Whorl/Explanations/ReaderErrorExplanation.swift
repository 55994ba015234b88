package import Fingerprint
package import SecretModel

extension ReaderError {
  /// What the error means to a person.
  package var explanation: Explanation {
    switch self {
    case .absent:
      Explanation("no fingerprint reader", advice: "attach it, or see 'whorl reader list' and 'whorl doctor'")
    case .fprintdFilesUnreadable(let folder):
      Explanation(
        "fprintd's template files\(folder.map { " in \($0)" } ?? "") cannot be read, so that a finger enrolled anew could "
          + "not be told from the one before",
        advice: "bind nothing to the current set here; --access any-finger works")
    case .fprintdRefused(let words):
      Explanation(
        "the fingerprint service of this machine (fprintd) does not allow that here",
        advice:
          "do it in the desktop's settings (Users, Fingerprint), or at the machine with 'sudo fprintd-enroll' and "
          + "'sudo fprintd-delete'",
        detail: words)
    case .permissionDenied(let path):
      Explanation(
        "no permission to open the reader\(path.map { " (\($0))" } ?? "")",
        advice: "'make install-udev' gives it to whoever sits at the machine; 'whorl doctor' explains")
    case .busy(let holder):
      Explanation(
        "the reader is in use\(holder.map { " by \($0)" } ?? "")", advice: "try again when it is free")
    case .removed: Explanation("the reader was unplugged", advice: "attach it, then try again")
    case .tooHot:
      Explanation("the reader is too hot", advice: "let it cool for some minutes, or use the passcode")
    case .cancelled: .cancelled
    case .notSupported: Explanation("this reader cannot do that", advice: "see 'whorl reader list'")
    case .storageFull:
      Explanation(
        "the reader's chip is full", advice: "unenroll a finger, or make room with the system that filled it")
    case .notOnChip:
      Explanation(
        "the print is no longer on the reader's chip", advice: "unenroll the finger and enrol it again")
    case .duplicate:
      Explanation(
        "that finger is on the reader already",
        advice: "touch another finger, or unenroll it where it was enrolled")
    case .badTemplate:
      Explanation("a stored print cannot be read", advice: "unenroll the finger and enrol it again")
    case .suspended: Explanation("the machine went to sleep", advice: "try again")
    case .printsChanged: VaultError.setChanged.explanation
    case .processDied(let how):
      Explanation("the program that drives the reader ended", advice: "try again", detail: how)
    case .fprintdUnreachable(let why):
      Explanation(
        "the fingerprint service of this machine (fprintd) cannot be reached",
        advice: "start it with 'sudo systemctl restart fprintd' and try again; 'whorl doctor' looks further",
        detail: why)
    case .cannotStart(let why):
      Explanation(
        "the program that drives the reader cannot be started: \(why)", advice: "'whorl doctor' says what is missing")
    case .notLent(let why):
      Explanation("the system service does not lend its reader: \(why)", advice: "'whorl reader test --help' explains")
    case .device(let words): Explanation("the reader reports: \(words)", advice: "try again")
    }
  }
}
