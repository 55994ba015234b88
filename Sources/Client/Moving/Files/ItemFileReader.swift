internal import SecretModel
internal import SecureMemory

/// Reads the contents of an export from a socket, whose other end decrypts them.
final class ItemFileReader {
  private let socket: Int32
  /// The received bytes, secrets included.
  private var received = SecretBytes(count: 0)
  /// The number of received bytes that were read.
  private var used = 0
  private var items = 0
  /// The number of bytes received so far.
  private(set) var count = 0
  private var hasBegun = false

  private static let chunkCount = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(from socket: Int32) { self.socket = socket }

  /// The next item and its secret; nil at the end of the contents.
  ///
  /// - Throws: `fileUnreadable` for contents of another form, and if they end too early.
  func next() throws(VaultError) -> (item: NewItem, secret: SharedSecret)? {
    if !hasBegun {
      guard try JSONLine.read(line(), as: ItemFileFormat.Beginning.self) == ItemFileFormat.Beginning() else {
        throw .otherContents
      }
      hasBegun = true
    }
    let line = try JSONLine.read(line(), as: ItemFileFormat.Line.self)
    switch (line.item, line.end) {
    case (let head?, nil):
      guard (0...NewItem.secretLimit).contains(head.secret) else { throw .otherContents }
      let secret = try bytes(head.secret)
      guard try bytes(1).withUnsafeBytes({ $0[0] == UInt8(ascii: "\n") }) else { throw .otherContents }
      let item = try head.item
      // Only keys that were made in the vault, or imported there as keys, have this flag.
      guard !item.access.flags.contains(.privateKeyUsage) else { throw .otherContents }
      items += 1
      return (item, SharedSecret(secret))
    case (nil, let count?):
      guard count == items, used == received.count, try !receive() else { throw .otherContents }
      return nil
    default: throw .otherContents
    }
  }

  /// The next line without its newline. No line holds a secret.
  private func line() throws(VaultError) -> [UInt8] {
    var searched = 0
    while true {
      let end = received.withUnsafeBytes { $0[(used + searched)...].firstIndex(of: UInt8(ascii: "\n")) }
      if let end {
        defer { used = end + 1 }
        return received.withUnsafeBytes { Array($0[used..<end]) }
      }
      searched = received.count - used
      guard searched <= ItemFileFormat.lineLimit, try receive() else { throw .otherContents }
    }
  }

  private func bytes(_ count: Int) throws(VaultError) -> SecretBytes {
    while received.count - used < count {
      guard try receive() else { throw .otherContents }
    }
    defer { used += count }
    return received.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[used..<used + count])) }
  }

  /// Receives more bytes, and drops those already read. False at the end.
  private func receive() throws(VaultError) -> Bool {
    let more = try chunk()
    guard !more.isEmpty else { return false }
    count += more.count
    let kept = received.count - used
    received.withUnsafeMutableBytes { bytes in
      if used > 0, let base = bytes.baseAddress { base.copyMemory(from: base + used, byteCount: kept) }
    }
    received.resize(to: kept)
    used = 0
    received.resize(to: kept + more.count)
    received.withUnsafeMutableBytes { target in
      more.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[kept...]).copyMemory(from: $0) }
    }
    return true
  }

  private func chunk() throws(VaultError) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: socket, upTo: Self.chunkCount)
    } catch {
      throw .inputOutput("the decrypted file: \(error)")
    }
  }
}
