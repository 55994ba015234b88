internal import CAdwaita
internal import Primitives

/// Shows a new recovery key, and waits until the person has typed its last part, as somebody can who has written it down.
/// The interface has its label `recovery-key`, the entry `last-part` and the button `written`.
final class RecoveryKeyCheck {
  private let interface: Interface
  private var written: CheckedContinuation<Bool, Never>?
  private var lastPart: SharedSecret?

  init(in interface: Interface) {
    self.interface = interface
    interface["last-part"].on("changed") { [self] in checkLastPart() }
    interface["written"].on("clicked") { [self] in answer(isWritten: true) }
    interface["last-part"].on("entry-activated") { [self] in
      if interface["written"].isSensitive { answer(isWritten: true) }
    }
  }

  func isWritten(_ key: SharedSecret) async -> Bool {
    interface["recovery-key"].show(key.bytes, as: .label)
    lastPart = SharedSecret(key.bytes.lastPart())
    interface["last-part"].text = ""
    interface["last-part"].focus()
    let isWritten = await withCheckedContinuation { written = $0 }
    interface["recovery-key"].set("label", "")
    interface["last-part"].text = ""
    lastPart = nil
    return isWritten
  }

  /// The person does not write it down.
  func leave() { answer(isWritten: false) }

  private func answer(isWritten: Bool) {
    written?.resume(returning: isWritten)
    written = nil
  }

  private func checkLastPart() {
    guard let lastPart else { return }
    interface["written"].isSensitive = interface["last-part"].secret.upperCased().constantTimeEquals(lastPart.bytes)
  }
}

extension SecretBytes {
  /// What follows the last hyphen or space.
  fileprivate borrowing func lastPart() -> SecretBytes {
    withUnsafeBytes { bytes in
      let start = bytes.lastIndex { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
      return SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }
  }

  /// Letters as the recovery key has them.
  fileprivate borrowing func upperCased() -> SecretBytes {
    var changed = copy()
    changed.withUnsafeMutableBytes { bytes in
      for index in bytes.indices where (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(bytes[index]) {
        bytes[index] -= 32
      }
    }
    return changed
  }
}
