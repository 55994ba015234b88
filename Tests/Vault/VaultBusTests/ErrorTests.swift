import Fingerprint
import SDBus
import SecretModel
import Testing
import VaultBus

@Suite("The errors of the vault's interface")
struct ErrorTests {
  /// An error of each case, some with and without associated values.
  static let errors: [VaultError] = [
    .invalidName("the service is empty"), .secretTooLong(limit: 1 << 20), .fingerNotEnrolled(.leftThumb),
    .fingerDuplicate(nil), .fingerDuplicate(.rightIndex), .notEnrolled, .fingersNotAccepted(.virtual),
    .invalidPasscode("too short"), .guessablePasscode, .invalidAccessControl("unknown flags"), .duplicateItem,
    .itemGone,
    .invalidRequest("why"), .authenticationFailed, .cancelled, .userFallback, .appCancelled, .systemCancelled,
    .contextInvalidated, .biometryLockout, .wrongPasscode, .wrongRecoveryKey, .malformedRecoveryKey,
    .wrongApplicationPassword, .passcodeDelayed(seconds: 30), .applicationPasswordDelayed(seconds: 60), .passcodeNotSet,
    .interactionNotAllowed,
    .sessionRefused(.remote), .notUnlocked(.afterFirstUnlock), .notAuthorized("org.whorl.manage"),
    .itemInvalidated(ItemName(unchecked: "mail", account: "alice")),
    .differentReader(ItemName(unchecked: "\u{FFFE}\u{1F511}", account: "")), .setChanged, .touchRefused,
    .reader(.absent), .reader(.permissionDenied("/dev/bus/usb/001/004")), .reader(.busy(holder: "fprintd")),
    .reader(.device("the words of libfprint")), .printsGone([.leftRing, .rightLittle]), .printsGone([]),
    .configuration("config.json: line 3"), .storeNotFound("/home/å\u{FFFF}/whorl"), .storeExists("/tmp/a\u{0}b"),
    .unsafeDirectory("others can write there"), .deviceKeyMissing, .tpm(.absent, detail: "no device"),
    .tpm(.lockedOut, detail: ""), .credential(.absent, detail: "why"), .credential(.changed, detail: ""),
    .itemDamaged(nil),
    .itemDamaged(ItemName(unchecked: "mail", account: "")), .storeDamaged("a planted trigger"), .restoreDetected,
    .recoveryKeyRequired, .newerFormat(9), .olderFormat(1), .storeFull(limit: 1 << 28), .wrongPassphrase,
    .fileUnreadable("it is empty"), .busy("another program"),
    .timedOut,
    .inputOutput("No space left on device"), .internalError("here"), .serviceUnavailable("why"),
    .versionMismatch("2.0"), .outcomeUnknown,
  ]

  @Test("survive the way over the bus, every one", arguments: errors)
  func roundTrip(_ error: VaultError) {
    let (name, details) = error.busForm
    #expect(
      VaultError(busName: VaultInterface.errorPrefix + name.rawValue, message: "", details: details) == error)
  }

  @Test("have a name each, and this suite an example of each")
  func names() {
    #expect(Set(Self.errors.map(\.busForm.name)) == Set(VaultErrorName.allCases))
  }

  @Test("of another version, or with other arguments, are reported as those of another version")
  func unknown() {
    for (name, details) in [
      ("org.whorl.Vault1.Error.Melted", []), ("org.freedesktop.DBus.Error.UnknownMethod", []),
      ("org.whorl.Vault1.Error.PasscodeDelayed", []), ("org.whorl.Vault1.Error.StoreNotFound", [.int64(1)]),
    ] as [(String, [BusValue])] {
      guard case .versionMismatch(let why) = VaultError(busName: name, message: "text", details: details) else {
        Issue.record("\(name) was taken for another error")
        continue
      }
      #expect(why.contains(name))
    }
  }
}
