package import Fingerprint

/// The description of a reader error, for programs and libraries.
package struct ReaderErrorDescription: Sendable, Hashable {
  /// What it is in Apple's libraries.
  package let apple: AppleError
  /// Decides the exit status of a command.
  package let kind: FailureKind
  /// What it means to a person.
  package let explanation: Explanation

  private init(_ apple: AppleError, _ kind: FailureKind, _ explanation: Explanation) {
    (self.apple, self.kind, self.explanation) = (apple, kind, explanation)
  }

  private init(
    _ apple: AppleError, _ kind: FailureKind, _ what: String, advice: String, further: String? = nil,
    detail: String? = nil
  ) {
    self.init(apple, kind, Explanation(what, advice: advice, further: further, detail: detail))
  }

  package init(_ error: ReaderError) {
    self =
      switch error {
      case .absent:
        Self(
          .authentication(.biometryNotAvailable), .unavailable, "no fingerprint reader",
          advice: "attach it, or use the passcode", further: Explanation.doctor)
      case .fprintdFilesUnreadable(let folder):
        Self(
          .authentication(.biometryNotAvailable), .refused,
          "fprintd's template files\(folder.map { " in \($0)" } ?? "") cannot be read, so that a finger enrolled anew could "
            + "not be distinguished from the earlier one",
          advice: "bind nothing to the current set here; --access any-finger works")
      case .fprintdRefused(let words):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine (fprintd) does not allow that here",
          advice:
            "do it in the desktop's settings (Users, Fingerprint), or at the machine with 'sudo fprintd-enroll' and "
            + "'sudo fprintd-delete'",
          detail: words)
      case .permissionDenied(let path):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "no permission to open the reader\(path.map { " (\($0))" } ?? "")",
          advice: "'make install-udev' gives it to whoever sits at the machine", further: Explanation.doctor)
      case .busy(let holder):
        Self(
          .authentication(.systemCancel), .tryAgain, "the reader is in use\(holder.map { " by \($0)" } ?? "")",
          advice: "try again when it is free")
      case .removed:
        Self(
          .authentication(.biometryDisconnected), .unavailable, "the reader was unplugged",
          advice: "attach it, then try again")
      case .tooHot:
        Self(
          .authentication(.biometryNotAvailable), .tryAgain, "the reader is too hot",
          advice: "let it cool for some minutes, or use the passcode")
      case .cancelled:
        Self(.authentication(.userCancel), .refused, Explanation.cancelled)
      case .notSupported:
        Self(
          .authentication(.biometryNotAvailable), .unavailable, "this reader cannot do that",
          advice: "see 'whorl reader list'")
      case .storageFull:
        Self(
          .authentication(.biometryNotAvailable), .unavailable, "the reader's chip is full",
          advice: "unenroll a finger, or make room with the system that filled it")
      case .notOnChip:
        Self(
          .authentication(.biometryNotAvailable), .notFound, "the print is no longer on the reader's chip",
          advice: "unenroll the finger and enrol it again")
      case .duplicate:
        Self(
          .status(.errSecDuplicateItem, evaluated: .biometryNotAvailable), .exists,
          "that finger is on the reader already",
          advice: "touch another finger, or unenroll it where it was enrolled")
      case .badTemplate:
        Self(
          .status(.errSecDecode), .damaged, "a stored print cannot be read",
          advice: "unenroll the finger and enrol it again")
      case .suspended:
        Self(.authentication(.systemCancel), .tryAgain, "the machine went to sleep", advice: "try again")
      case .printsChanged:
        Self(.authentication(.systemCancel), .refused, VaultError.setChanged.explanation)
      case .processDied(let how):
        Self(
          .authentication(.biometryNotAvailable), .unavailable, "the program that drives the reader ended",
          advice: "try again", detail: how)
      case .fprintdUnreachable(let why) where why.contains("masked"):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine (fprintd) is switched off",
          advice: "'sudo systemctl unmask fprintd' switches it on", detail: why)
      case .fprintdUnreachable(let why):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine (fprintd) cannot be reached",
          advice: "start it with 'sudo systemctl restart fprintd' and try again", further: Explanation.doctor,
          detail: why)
      case .missedByFprintd(let reader):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine (fprintd) does not use the reader that is attached (\(reader))",
          advice: "try again in some seconds; if that does not help, restart it with 'sudo systemctl restart fprintd'")
      case .cannotStart(let why):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the program that drives the reader cannot be started: \(why)",
          advice: "correct that, or install Whorl again", further: Explanation.doctor)
      case .looksForAnyFinger:
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine does not look for one finger alone, and others are enrolled too",
          advice: "use the passcode, or enrol only this finger")
      case .deletesOnlyAllFingers:
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          "the fingerprint service of this machine can only delete all of your fingers at once",
          advice: "'whorl unenroll --all' deletes them; 'whorl enroll' then enrols those that you want to keep")
      case .notLent(let why):
        Self(
          .authentication(.biometryNotAvailable), .refused, "the system service does not lend its reader: \(why)",
          advice: "'whorl reader test --help' explains")
      case .device(let words):
        Self(.authentication(.biometryNotAvailable), .inputOutput, "the reader reports: \(words)", advice: "try again")
      }
  }
}

extension ReaderError {
  /// All that is known of the error.
  package var described: ReaderErrorDescription { ReaderErrorDescription(self) }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }
}
