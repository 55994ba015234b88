// What the calls of the TPM take, return and throw.

internal import CTSS

/// A secret that only the TPM which sealed it can open. Holds nothing secret itself.
package struct SealedObject: Sendable, Hashable {
  /// The name of the storage key that it is sealed under: a digest of that key's public part.
  package let storageKey: [UInt8]
  /// The TPM's own encodings of the two parts.
  package let publicPart: [UInt8]
  package let privatePart: [UInt8]
  /// The registers that it was sealed to.
  package let registers: PlatformRegisters

  package init(
    storageKey: [UInt8], publicPart: [UInt8], privatePart: [UInt8], registers: PlatformRegisters = .none
  ) {
    self.storageKey = storageKey
    self.publicPart = publicPart
    self.privatePart = privatePart
    self.registers = registers
  }
}

/// Registers of the TPM that measure what the firmware and the boot loader have started (PCRs, in the bank of SHA-256).
package struct PlatformRegisters: Sendable, Hashable {
  /// The registers that only a restart of the machine resets.
  package static let permitted: ClosedRange<UInt8> = 0...15
  package static let none = PlatformRegisters(sorted: [])

  /// In ascending order.
  package let numbers: [UInt8]

  package var isEmpty: Bool { numbers.isEmpty }

  /// Nil if a number is not ``permitted``.
  package init?(_ numbers: [UInt8]) {
    guard numbers.allSatisfy({ Self.permitted.contains($0) }) else { return nil }
    self.init(sorted: Set(numbers).sorted())
  }

  private init(sorted numbers: [UInt8]) { self.numbers = numbers }
}

/// The state of a TPM's dictionary lockout, which all users and programs of the machine share.
package struct DictionaryLockout: Sendable, Hashable {
  /// Wrong authorization values that count now.
  package let failures: UInt32
  /// The TPM locks itself at this many.
  package let limit: UInt32
  /// After this many seconds one failure is forgotten.
  package let interval: UInt32
  package let isLockedOut: Bool

  package init(failures: UInt32, limit: UInt32, interval: UInt32, isLockedOut: Bool) {
    self.failures = failures
    self.limit = limit
    self.interval = interval
    self.isLockedOut = isLockedOut
  }

  /// Whether one more wrong value would leave the TPM unlocked.
  package var hasRoom: Bool { !isLockedOut && failures + 1 < limit }
}

/// How a TPM is reached.
package enum TPMPlace: Sendable, Hashable {
  /// The kernel's device, by its path: `/dev/tpmrm0`, with the kernel's resource manager.
  case device(String)
  /// The Unix socket of swtpm, a TPM in software, for tests. It protects nothing.
  case simulator(socket: String)

  package var path: String {
    switch self {
    case .device(let path): path
    case .simulator(let socket): socket
    }
  }
}

/// The outcome of a call to the TPM that did not succeed. None carries a secret.
package enum TPMError: Error, Hashable, Sendable {
  /// The TPM cannot be reached; the value says why.
  case absent(String)
  /// The TPM's storage key is not the one that the object was sealed under: the TPM was cleared or replaced, or something
  /// between it and this program answers in its place.
  case changed
  /// The authorization value is not that of the object.
  case wrongAuthorization
  /// The TPM refuses every object with an authorization value for a while, after too many wrong ones.
  case lockedOut
  /// The registers that the object was sealed to have other values now.
  case registersChanged
  /// The storage hierarchy has an owner password.
  case ownerPassword
  /// The TPM or its library refused; the value names the call and the response code.
  case refused(String)
}

/// A response code of the TPM or of its library.
struct ResponseCode {
  private static let layerMask: TSS2_RC = 0xFFFF_0000
  /// The codes of the TPM itself, and those that the kernel's resource manager passes on or makes.
  private static let tpmLayers: Set<TSS2_RC> = [0, 11 << 16, 12 << 16]
  private static let connectionLayer: TSS2_RC = 10 << 16

  let value: TSS2_RC

  /// Throws unless the code says that the call has succeeded.
  static func check(_ code: TSS2_RC, _ call: String) throws(TPMError) {
    if let error = ResponseCode(value: code).error(of: call) { throw error }
  }

  /// The error for the code; nil for success.
  func error(of call: String) -> TPMError? {
    guard value != 0 else { return nil }
    let layer = value & Self.layerMask
    if layer == Self.connectionLayer { return .absent("it does not answer (\(call): \(text))") }
    guard Self.tpmLayers.contains(layer) else { return .refused("\(call): \(text)") }
    switch base {
    // TPM_RC_AUTH_FAIL, and TPM_RC_BAD_AUTH for objects that the dictionary lockout does not cover
    case 0x08E, 0x0A2: return .wrongAuthorization
    // TPM_RC_POLICY_FAIL, TPM_RC_PCR_CHANGED
    case 0x09D, 0x128: return .registersChanged
    // TPM_RC_LOCKOUT
    case 0x921: return .lockedOut
    default: return .refused("\(call): \(text)")
    }
  }

  /// The code of the TPM itself, without the number of the parameter; nil for a code of its library.
  var ofTPM: TSS2_RC? { Self.tpmLayers.contains(value & Self.layerMask) ? base : nil }

  /// The code without the number of the parameter, handle or session that it is about (TPM 2.0, part 2, 6.6.2).
  private var base: TSS2_RC {
    let code = value & 0xFFF
    return code & 0x080 == 0 ? code : code & 0x0BF
  }

  private var text: String { "0x" + String(value, radix: 16) }
}
