package import SDBus

/// The D-Bus interface of the vault, documented in `data/dbus/org.whorl.Vault1.xml`. Its name contains the major
/// version.
package enum VaultInterface {
  package static let target = BusTarget(path: "/org/whorl/Vault", interface: "org.whorl.Vault1")

  /// The minor version: it counts additions that an older peer can ignore.
  package static let minor: UInt32 = 0
  /// The names of additions since version 1.0. A client checks them before it uses an addition that an older vault
  /// would refuse.
  package static let features: [String] = []

  /// The methods. The first argument of each is the number of the call.
  package enum Method: String, CaseIterable, Sendable {
    case hello = "Hello"
    case cancel = "Cancel"

    case open = "Open"
    case create = "Create"
    case keep = "Keep"
    case rebuildDeviceKey = "RebuildDeviceKey"
    case makeStoreOfBackup = "MakeStoreOfBackup"

    case openCopy = "OpenCopy"
    case lendReader = "LendReader"
    case walletKey = "WalletKey"
    case encryptFile = "EncryptFile"
    case fileKey = "FileKey"
    case decryptFile = "DecryptFile"
    case makeKeyPair = "MakeKeyPair"

    case openContext = "OpenContext"
    case respond = "Respond"
    case setApplicationPassword = "SetApplicationPassword"
    case closeContext = "CloseContext"

    case items = "Items"
    case secrets = "Secrets"
    case firstSecrets = "FirstSecrets"
    case add = "Add"
    case addAll = "AddAll"
    case update = "Update"
    case delete = "Delete"
    case sealCopy = "SealCopy"
    case addKey = "AddKey"
    case useKey = "UseKey"

    case evaluate = "Evaluate"
    case biometry = "Biometry"

    case enroll = "Enroll"
    case unenroll = "Unenroll"
    case losses = "Losses"

    case unlock = "Unlock"
    case lock = "Lock"
    case changePasscode = "ChangePasscode"
    case reseal = "Reseal"
    case setFirstUnlock = "SetFirstUnlock"
    case removePasscode = "RemovePasscode"
    case recover = "Recover"
    case draftRecoveryKey = "DraftRecoveryKey"
    case keepRecoveryKey = "KeepRecoveryKey"
    case detectedRestore = "DetectedRestore"
    case acceptRestore = "AcceptRestore"

    case backUp = "BackUp"
    case backupContents = "BackupContents"
    case restoreBackup = "RestoreBackup"

    case useAdapter = "UseAdapter"
    case readers = "Readers"
    case status = "Status"
    case openClasses = "OpenClasses"
    case unlockChange = "UnlockChange"
    case problems = "Problems"
    case log = "Log"
  }

  /// Emitted for each event of a context, before the answer of the call that the event belongs to.
  package static let eventSignal = "Event"
  package static let eventSignalArguments = "ayxsa{sv}"

  /// The prefix of the D-Bus name of each ``VaultError``.
  package static let errorPrefix = "org.whorl.Vault1.Error."

  /// The most open calls of a connection. Those that end the wait of another call are not counted.
  package static let callLimit = 64
  /// The most that the arguments of a call may cost (`BusValue.cost`).
  package static let requestLimit = 16 << 20
  /// The most that the results of a call may cost. D-Bus allows 64 MiB in an array.
  package static let answerLimit = 64 << 20
}

extension VaultInterface.Method {
  /// The D-Bus signature of the arguments.
  package var arguments: String {
    switch self {
    case .hello: "tuas"
    case .cancel, .lendReader, .makeKeyPair, .biometry, .lock, .draftRecoveryKey, .detectedRestore, .readers, .status,
      .openClasses, .problems:
      "t"
    case .open: "ta{sv}"
    case .create: "ta{sv}ahb"
    case .keep: "tay"
    case .rebuildDeviceKey: "ta{sv}h"
    case .makeStoreOfBackup: "ta{sv}hh"
    case .openCopy: "taysh"
    case .walletKey: "thay"
    case .encryptFile: "thhayah"
    case .fileKey: "thsh"
    case .decryptFile: "thhh"
    case .openContext, .log: "ta{sv}"
    case .respond: "taysxah"
    case .setApplicationPassword: "tayah"
    case .closeContext: "tays"
    case .items, .secrets: "ta{sv}a{sv}"
    case .firstSecrets: "taayxa{sv}"
    case .add: "ta{sv}hba{sv}"
    case .addAll: "ta(ayxx)h"
    case .update: "ta{sv}a{sv}aha{sv}"
    case .delete: "ta{sv}"
    case .sealCopy: "thsaya{sv}"
    case .addKey: "ta{sv}sah"
    case .useKey: "taya{sv}a{sv}"
    case .evaluate: "ta{sv}a{sv}"
    case .enroll, .unenroll, .useAdapter, .setFirstUnlock: "tsa{sv}"
    case .losses: "ts"
    case .unlockChange: "tb"
    case .unlock, .changePasscode, .removePasscode, .keepRecoveryKey: "ta{sv}"
    case .recover, .acceptRestore, .reseal: "taya{sv}"
    case .backUp, .backupContents: "th"
    case .restoreBackup: "thaya{sv}"
    }
  }

  /// The D-Bus signature of the results.
  package var results: String {
    switch self {
    case .hello: "uas"
    case .cancel, .open, .keep, .rebuildDeviceKey, .makeStoreOfBackup, .backUp, .respond, .setApplicationPassword,
      .closeContext, .unlock, .lock, .changePasscode, .reseal, .keepRecoveryKey, .setFirstUnlock, .useAdapter,
      .encryptFile, .decryptFile:
      ""
    case .create: "ayh"
    case .makeKeyPair: "hay"
    case .openContext, .evaluate: "ay"
    case .items: "aayay"
    case .secrets, .firstSecrets: "a(ayxx)ah"
    case .add, .addKey: "ay"
    case .addAll: "a(x(sav))"
    case .biometry, .enroll, .unenroll, .readers, .status, .backupContents: "a{sv}"
    case .update, .delete: "x"
    case .useKey, .openCopy, .lendReader, .walletKey, .fileKey, .draftRecoveryKey: "h"
    case .sealCopy: "ay"
    case .losses, .removePasscode, .recover, .acceptRestore, .restoreBackup: "a(ayay)"
    case .detectedRestore: "aa{sv}"
    case .openClasses: "as"
    case .unlockChange: "b"
    case .problems: "a(sav)"
    case .log: "aa{sv}"
    }
  }

  /// Whether the call changes what is stored, so that it makes a difference whether it is made once or twice. If the
  /// connection is lost during such a call, it is unknown whether the change was made.
  package var isChange: Bool {
    switch self {
    case .keep, .rebuildDeviceKey, .makeStoreOfBackup, .restoreBackup, .add, .addAll, .addKey, .update, .delete,
      .enroll, .unenroll, .changePasscode, .reseal, .setFirstUnlock, .removePasscode, .recover,
      .keepRecoveryKey, .acceptRestore,
      .useAdapter:
      true
    // A new store that was not kept is removed when its connection ends.
    case .create: false
    // What it opens ends with the vault, and like every right passcode it clears the counts of wrong ones.
    case .unlock: false
    case .hello, .cancel, .open, .openCopy, .lendReader, .walletKey, .encryptFile, .fileKey, .decryptFile,
      .makeKeyPair, .sealCopy, .openContext, .respond,
      .setApplicationPassword, .closeContext, .items, .secrets, .firstSecrets, .useKey, .evaluate, .biometry, .losses,
      .lock, .draftRecoveryKey, .detectedRestore, .backUp, .backupContents, .readers, .status, .openClasses,
      .unlockChange,
      .problems, .log:
      false
    }
  }

  /// Whether the call ends the wait of another call, or helps to. Such a call is served however many others are open.
  package var endsWaiting: Bool {
    switch self {
    case .cancel, .respond, .closeContext: true
    default: false
    }
  }
}
