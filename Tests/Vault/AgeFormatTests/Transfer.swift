import Foundation
import Glibc
import Primitives
import SecretModel
import Testing
import VaultSync

func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }

func secret(_ text: String) -> SecretBytes { secret(Array(text.utf8)) }

func shared(_ text: String) -> SharedSecret { SharedSecret(secret(text)) }

func bytes(of secret: borrowing SecretBytes) -> [UInt8] { secret.withUnsafeBytes { Array($0) } }

/// Bytes whose values depend on their position.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) } }

/// Encrypts and decrypts files over sockets, as clients do.
struct Transfer {
  let path: String

  func encrypt(_ contents: [UInt8], for recipient: EncryptedFile.Recipient, logN: Int = 10) throws {
    let (mine, theirs) = try sockets()
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    try #require(file >= 0)
    defer {
      close(file)
      close(theirs)
    }
    let writer = Thread {
      try? secret(contents).write(to: mine)
      close(mine)
    }
    writer.start()
    try AgeFile.encrypt(from: theirs, to: file, for: recipient, logN: logN)
  }

  func decrypt(with opening: EncryptedFile.Opening) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    try #require(file >= 0)
    defer { close(file) }
    let key = try AgeFile.key(of: file, with: opening)
    let (mine, theirs) = try sockets()
    let received = Received()
    let reader = Thread {
      do {
        received.finish(with: bytes(of: try SecretBytes.read(from: mine, limit: 64 << 20)))
      } catch {
        received.finish(with: [])
      }
      close(mine)
    }
    reader.start()
    defer { received.wait() }
    do {
      defer { close(theirs) }
      try AgeFile.decrypt(file, with: key, to: theirs)
    }
    return received.wait()
  }

  private func sockets() throws -> (Int32, Int32) {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    return (pair[0], pair[1])
  }
}

/// What another thread has read.
private final class Received: @unchecked Sendable {
  // The condition guards the bytes.
  private let condition = NSCondition()
  private var bytes: [UInt8]?

  func finish(with bytes: [UInt8]) {
    condition.withLock {
      self.bytes = bytes
      condition.broadcast()
    }
  }

  @discardableResult
  func wait() -> [UInt8] {
    condition.withLock {
      while bytes == nil { condition.wait() }
      return bytes ?? []
    }
  }
}
