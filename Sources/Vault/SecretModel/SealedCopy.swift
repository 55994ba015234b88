package import SecureMemory

/// A sealed copy of a secret that can be opened without the store, with the passcode that was set when it was sealed or
/// with the recovery key. It may be kept where others can read it, but they can then try passcodes as fast as their
/// machine allows.
package struct SealedCopy: Sendable, Hashable {
  /// The keys that a copy is sealed under.
  package enum Keys: String, Sendable, Hashable, CaseIterable {
    /// The passcode and the recovery key.
    case passcodeAndRecoveryKey = "passcode-and-recovery-key"
    /// Only the recovery key, which nobody can guess.
    case recoveryKey = "recovery-key"
  }

  /// What opens a copy.
  package enum Opening: ~Copyable, Sendable {
    case passcode(SecretBytes)
    /// The recovery key, in the form in which it was shown.
    case recoveryKey(SecretBytes)
  }

  private static let beginning = Array("whorl sealed copy 1 ".utf8)
  /// The longest copy that is read, in bytes.
  package static let limit = 64 << 10

  /// The keys that it is sealed under.
  package let keys: Keys
  /// The wrapped keys. They change only with the passcode or the recovery key.
  package let head: [UInt8]
  /// The secret, sealed once for each way to open it.
  package let boxes: [UInt8]

  package init(under keys: Keys, head: [UInt8], boxes: [UInt8]) {
    self.keys = keys
    self.head = head
    self.boxes = boxes
  }

  /// Decodes ``bytes``; nil for anything else.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.limit, bytes.starts(with: Self.beginning) else { return nil }
    let parts = bytes.dropFirst(Self.beginning.count).split(
      separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let keys = Keys(rawValue: String(decoding: parts[0], as: UTF8.self)), parts[1].count >= 4
    else { return nil }
    let count = parts[1].prefix(4).reduce(0) { $0 << 8 | Int($1) }
    let rest = parts[1].dropFirst(4)
    guard count <= rest.count else { return nil }
    self.init(under: keys, head: Array(rest.prefix(count)), boxes: Array(rest.dropFirst(count)))
  }

  /// The encoded copy, for files and the bus: a line of text, the length of the head, the head, the boxes.
  package var bytes: [UInt8] {
    let length = unsafe withUnsafeBytes(of: UInt32(head.count).bigEndian) { unsafe Array($0) }
    return Self.beginning + Array("\(keys.rawValue)\n".utf8) + length + head + boxes
  }
}
