package import Primitives

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
          .authentication(.biometryNotAvailable), .unavailable, Text.of("no fingerprint reader"),
          advice: Text.of("attach it, or use the passcode"), further: Explanation.doctor)
      case .fprintdFilesUnreadable(let folder):
        Self(
          .authentication(.biometryNotAvailable), .refused,
          folder.map {
            Text.of(
              "fprintd's template files in {folder} cannot be read, so that a finger enrolled anew could not be distinguished from the earlier one",
              ["folder": $0])
          }
            ?? Text.of(
              "fprintd's template files cannot be read, so that a finger enrolled anew could not be distinguished from the earlier one"
            ),
          advice: Text.of("bind nothing to the current set here; --access any-finger works"))
      case .fprintdRefused(let words):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of("the fingerprint service of this machine (fprintd) does not allow that here"),
          advice:
            Text.of(
              "do it in the desktop's settings (Users, Fingerprint), or at the machine with 'sudo fprintd-enroll' and 'sudo fprintd-delete'"
            ),
          detail: words)
      case .permissionDenied(let path):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          path.map { Text.of("no permission to open the reader ({path})", ["path": $0]) }
            ?? Text.of("no permission to open the reader"),
          advice: Text.of("'make install-udev' gives it to whoever sits at the machine"), further: Explanation.doctor)
      case .busy(let holder):
        Self(
          .authentication(.systemCancel), .tryAgain,
          holder.map { Text.of("the reader is in use by {holder}", ["holder": $0]) } ?? Text.of("the reader is in use"),
          advice: Text.of("try again when it is free"))
      case .removed:
        Self(
          .authentication(.biometryDisconnected), .unavailable, Text.of("the reader was unplugged"),
          advice: Text.of("attach it, then try again"))
      case .tooHot:
        Self(
          .authentication(.biometryNotAvailable), .tryAgain, Text.of("the reader is too hot"),
          advice: Text.of("let it cool for some minutes, or use the passcode"))
      case .cancelled:
        Self(.authentication(.userCancel), .refused, Explanation.cancelled)
      case .notSupported:
        Self(
          .authentication(.biometryNotAvailable), .unavailable, Text.of("this reader cannot do that"),
          advice: Text.of("see 'whorl reader list'"))
      case .storageFull:
        Self(
          .authentication(.biometryNotAvailable), .unavailable, Text.of("the reader's chip is full"),
          advice: Text.of("unenroll a finger, or make room with the system that filled it"))
      case .notOnChip:
        Self(
          .authentication(.biometryNotAvailable), .notFound, Text.of("the print is no longer on the reader's chip"),
          advice: Text.of("unenroll the finger and enrol it again"))
      case .duplicate:
        Self(
          .status(.errSecDuplicateItem, evaluated: .biometryNotAvailable), .exists,
          Text.of("that finger is on the reader already"),
          advice: Text.of("touch another finger, or unenroll it where it was enrolled"))
      case .badTemplate:
        Self(
          .status(.errSecDecode), .damaged, Text.of("a stored print cannot be read"),
          advice: Text.of("unenroll the finger and enrol it again"))
      case .suspended:
        Self(
          .authentication(.systemCancel), .tryAgain, Text.of("the machine went to sleep"), advice: Text.of("try again"))
      case .printsChanged:
        Self(.authentication(.systemCancel), .refused, VaultError.setChanged.explanation)
      case .processDied(let how):
        Self(
          .authentication(.biometryNotAvailable), .unavailable, Text.of("the program that drives the reader ended"),
          advice: Text.of("try again"), detail: how)
      case .fprintdUnreachable(let why) where why.contains("masked"):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of("the fingerprint service of this machine (fprintd) is switched off"),
          advice: Text.of("'sudo systemctl unmask fprintd' switches it on"), detail: why)
      case .fprintdUnreachable(let why):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of("the fingerprint service of this machine (fprintd) cannot be reached"),
          advice: Text.of("start it with 'sudo systemctl restart fprintd' and try again"), further: Explanation.doctor,
          detail: why)
      case .missedByFprintd(let reader):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of(
            "the fingerprint service of this machine (fprintd) does not use the reader that is attached ({reader})",
            ["reader": reader]),
          advice: Text.of(
            "try again in some seconds; if that does not help, restart it with 'sudo systemctl restart fprintd'"))
      case .cannotStart(let why):
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of("the program that drives the reader cannot be started: {why}", ["why": why]),
          advice: Text.of("correct that, or install Whorl again"), further: Explanation.doctor)
      case .looksForAnyFinger:
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of(
            "the fingerprint service of this machine does not look for one finger alone, and others are enrolled too"),
          advice: Text.of("use the passcode, or enrol only this finger"))
      case .deletesOnlyAllFingers:
        Self(
          .authentication(.biometryNotAvailable), .unavailable,
          Text.of("the fingerprint service of this machine can only delete all of your fingers at once"),
          advice: Text.of("'whorl unenroll --all' deletes them; 'whorl enroll' then enrols those that you want to keep")
        )
      case .notLent(let why):
        Self(
          .authentication(.biometryNotAvailable), .refused,
          Text.of("the system service does not lend its reader: {why}", ["why": why]),
          advice: Text.of("'whorl-reader-kit test --help' explains"))
      case .device(let words):
        Self(
          .authentication(.biometryNotAvailable), .inputOutput,
          Text.of("the reader reports: {words}", ["words": words]), advice: Text.of("try again"))
      }
  }
}

extension ReaderError {
  /// All that is known of the error.
  package var described: ReaderErrorDescription { ReaderErrorDescription(self) }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }
}
