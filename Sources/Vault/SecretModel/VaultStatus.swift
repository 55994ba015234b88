// A store as its owner sees it: its place, its state, and its reader.

import Glibc
package import Primitives

/// The status that `whorl status` shows.
package struct VaultStatus: Sendable {
  /// How the root key is protected. Never claims more than is true.
  package enum Tier: String, Sendable {
    case keyFile = "key file"
    /// By a credential of systemd whose key may be on the same disk: no better than a key file.
    case credential = "systemd credential"
    /// By a credential of systemd that the machine's TPM opens.
    case credentialOfTPM = "systemd credential of TPM"
    case tpm = "TPM"

    /// Whether passcodes can be tried on a copy of the store, without this machine and its failure counts.
    package var isOpenToGuesses: Bool {
      switch self {
      case .keyFile, .credential: true
      case .credentialOfTPM, .tpm: false
      }
    }
  }

  package var directory: String
  package var tier: Tier
  /// The registers of the platform (PCRs) that the keys are sealed to in the TPM; empty if they are sealed to none.
  package var registers: [UInt8]
  package var passcodeSet: Bool
  /// Touches in a row that did not match.
  package var failures: Int
  /// The number of ``failures`` from which the passcode is needed (the rule of LocalAuthentication).
  package static let failureLimit = 5
  package var lockedOut: Bool
  /// Seconds until a passcode can be tried again; 0 if it can be now.
  package var passcodeDelay: Int
  /// What is needed to accept a detected restore; nil if there is none.
  package var restore: DetectedRestore.Acceptance?
  package var restoreDetected: Bool { restore != nil }
  package var items: Int
  package var sets: [SetStatus]
  /// Enrolment sets whose record does not verify.
  package var damagedSets: Int
  /// The adapter that the reader selection `auto` means in this store; nil before any finger was enrolled.
  package var adapter: ReaderAdapter?
  /// What opens the items of this store after its vault has started.
  package var firstUnlock: FirstUnlock
  /// The classes whose items are open now.
  package var openClasses: [Accessibility]
  /// Seconds until the passcode must be given again, unless the store is unlocked before; nil if no passcode has
  /// opened it.
  package var passcodeDeadline: Int?

  package init(
    directory: String, tier: Tier, passcodeSet: Bool, failures: Int, lockedOut: Bool, passcodeDelay: Int,
    restore: DetectedRestore.Acceptance?, items: Int, sets: [SetStatus], damagedSets: Int,
    adapter: ReaderAdapter? = nil, firstUnlock: FirstUnlock = .none, openClasses: [Accessibility] = [],
    passcodeDeadline: Int? = nil, registers: [UInt8] = []
  ) {
    self.directory = directory
    self.tier = tier
    self.registers = registers
    self.passcodeSet = passcodeSet
    self.failures = failures
    self.lockedOut = lockedOut
    self.passcodeDelay = passcodeDelay
    self.restore = restore
    self.items = items
    self.sets = sets
    self.damagedSets = damagedSets
    self.adapter = adapter
    self.firstUnlock = firstUnlock
    self.openClasses = openClasses
    self.passcodeDeadline = passcodeDeadline
  }
}

/// The store that a connection opens or creates.
package enum StorePlace: Sendable, Hashable {
  /// The caller's own store in the system service, which decides where it is and which reader it uses.
  case own
  /// A store in a folder, for a vault that the caller has started.
  case folder(StoreFolder)

  package init(
    directory: String, reader: ReaderSelection = .automatic, readerProgram: String? = nil,
    fprintd: FprintdPlace? = nil
  ) {
    self = .folder(
      StoreFolder(directory: directory, reader: reader, readerProgram: readerProgram, fprintd: fprintd))
  }
}

/// The folder of a store, and the reader that it uses.
package struct StoreFolder: Sendable, Hashable {
  /// The full path of the store's directory.
  package var directory: String
  package var reader: ReaderSelection
  /// The configured path of `whorl-reader`; nil: its installed place.
  package var readerProgram: String?
  /// An fprintd other than the machine's own; nil: the machine's own.
  package var fprintd: FprintdPlace?

  package init(
    directory: String, reader: ReaderSelection, readerProgram: String?, fprintd: FprintdPlace?
  ) {
    self.directory = directory
    self.reader = reader
    self.readerProgram = readerProgram
    self.fprintd = fprintd
  }
}

/// What opens the items of a store after its vault has started.
package enum FirstUnlock: String, Sendable, CaseIterable {
  /// Nothing: the items are open from the start.
  case none = "none"
  /// The passcode. Its key is needed to unwrap every class key.
  case passcode = "passcode"
  /// A login of the user at this machine, or the passcode. The key of `after-first-unlock` is also wrapped without the
  /// passcode, so anybody with the store's folder can unwrap it.
  case login = "login"
}

/// The socket of a lent reader. Closing it ends the loan.
package struct ReaderSocket: ~Copyable, Sendable {
  private let descriptor: Int32

  /// Takes ownership of a descriptor.
  package init(taking descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// Passes the descriptor to the caller, who must close it.
  package consuming func release() -> Int32 {
    let descriptor = descriptor
    discard self
    return descriptor
  }
}
