package import Primitives
package import SecretModel

/// An error of each case, some with and without associated values.
package enum EveryError {
  /// What a machine may say of a failure.
  package static let machineWords = "org.freedesktop.DBus.Error.ServiceUnknown: The name is not activatable"

  package static let ofVault: [VaultError] = [alone, ofSessions, ofTheService, ofKeepers, ofReader.map { .reader($0) }]
    .flatMap { $0 }

  // Parts, because Swift 6.2 takes too long for the types of one long expression.
  private static let alone: [VaultError] = [
    .invalidName("the service is empty"), .secretTooLong(limit: 1 << 20), .fingerNotEnrolled(.leftThumb),
    .fingerDuplicate(nil), .fingerDuplicate(.rightIndex), .notEnrolled, .fingersNotAccepted(.virtual),
    .invalidPasscode("too short"), .guessablePasscode, .invalidAccessControl("unknown flags"), .duplicateItem,
    .itemGone, .invalidRequest("why"), .authenticationFailed, .cancelled, .userFallback, .appCancelled,
    .systemCancelled, .contextInvalidated, .biometryLockout, .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey,
    .wrongApplicationPassword, .passcodeDelayed(seconds: 30), .applicationPasswordDelayed(seconds: 60),
    .passcodeNotSet, .interactionNotAllowed, .itemInvalidated(ItemName(unchecked: "mail", account: "alice")),
    .differentReader(ItemName(unchecked: "\u{FFFE}\u{1F511}", account: "")), .setChanged, .touchRefused,
    .printsGone([.leftRing, .rightLittle]), .printsGone([.leftRing]), .printsGone([]),
    .configuration("config.json: line 3"), .storeNotFound("/home/å\u{FFFF}/whorl"), .storeExists("/tmp/a\u{0}b"),
    .unsafeDirectory("others can write there"), .deviceKeyMissing, .itemDamaged(nil),
    .itemDamaged(ItemName(unchecked: "mail", account: "")), .storeDamaged("a planted trigger"), .restoreDetected,
    .recoveryKeyRequired, .newerFormat(9), .olderFormat(1), .storeFull(limit: 1 << 28), .passkeysFull(limit: 64),
    .wrongPassphrase,
    .fileUnreadable("it is empty"), .busy("another program"), .timedOut, .inputOutput("Input/output error"),
    .diskFull("cannot write /home/alice/vault.db"), .internalError(machineWords), .serviceUnavailable("why"),
    .serviceStopped(machineWords), .versionMismatch(machineWords), .outcomeUnknown,
  ]

  private static let ofSessions: [VaultError] =
    SessionRefusal.allCases.map { .sessionRefused($0) } + Accessibility.allCases.map { .notUnlocked($0) }

  private static let ofTheService: [VaultError] = AuthorizationProblem.allCases.flatMap { problem in
    ["own", "enroll", "enroll-as-administrator", "manage"].map { action -> VaultError in
      .notAuthorized(problem, action: "org.whorl.\(action): \(machineWords)")
    }
  }

  private static let ofKeepers: [VaultError] = [machineWords, ""].flatMap { detail -> [VaultError] in
    TPMProblem.allCases.map { .tpm($0, detail: detail) }
      + CredentialProblem.allCases.map { .credential($0, detail: detail) }
  }

  package static let ofReader: [ReaderError] = [
    .absent, .permissionDenied("/dev/bus/usb/001/004"), .permissionDenied(nil), .busy(holder: "fprintd"),
    .busy(holder: nil), .removed, .tooHot, .cancelled, .notSupported, .storageFull, .notOnChip, .duplicate,
    .badTemplate,
    .suspended, .printsChanged, .processDied(machineWords), .cannotStart("user 4321 owns it"),
    .fprintdRefused(machineWords),
    .fprintdUnreachable(machineWords), .fprintdFilesUnreadable("/var/lib/fprint"), .fprintdFilesUnreadable(nil),
    .missedByFprintd("06cb:00bd"), .looksForAnyFinger, .deletesOnlyAllFingers,
    .notLent("the picture of a finger stays in the reader's process"),
    .device("the words of libfprint"),
  ]
}
