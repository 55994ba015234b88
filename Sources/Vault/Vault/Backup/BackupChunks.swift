import Keys
import Presence
internal import Primitives
import VaultItems
import VaultStore

/// The contents of a backup are sealed in chunks of this length. The last one may be shorter.
private let chunkCount = 64 << 10

/// Binds a chunk to its place, so that none can be moved, left out or added.
private func aad(_ number: UInt64, isLast: Bool) -> [UInt8] {
  var aad = CanonicalEncoding()
  aad.append(tag: 1, "backup")
  aad.append(tag: 2, number)
  aad.append(tag: 3, UInt64(isLast ? 1 : 0))
  return aad.bytes
}

/// Seals contents into a file.
final class SealedChunks {
  private let file: LentFile
  private let key: SharedSecret
  private var number: UInt64 = 0
  private var waiting: [UInt8] = []

  init(to file: LentFile, key: consuming SecretBytes) { (self.file, self.key) = (file, SharedSecret(key)) }

  func append(_ bytes: [UInt8]) throws {
    waiting += bytes
    guard waiting.count > chunkCount else { return }
    var place = 0
    while waiting.count - place > chunkCount {
      try seal(waiting[place..<place + chunkCount], isLast: false)
      place += chunkCount
    }
    waiting.removeFirst(place)
  }

  /// Seals the remaining bytes as the last chunk.
  func finish() throws { try seal(waiting[...], isLast: true) }

  private func seal(_ chunk: ArraySlice<UInt8>, isLast: Bool) throws {
    let box: [UInt8]
    do {
      box = try AEAD.seal(SecretBytes(copying: chunk.span), key: key.bytes, aad: aad(number, isLast: isLast))
    } catch {
      throw VaultError(cause: error)
    }
    number += 1
    try file.write(box)
  }
}

/// Opens the chunks of a file one after the other.
final class OpenedChunks {
  private static let boxCount = chunkCount + AEAD.overhead

  private let file: LentFile
  private let key: SharedSecret
  private var number: UInt64 = 0
  /// Where the next chunk after `box` begins.
  private var place: Int
  /// The next chunk, still sealed; nil after the last one. Only the end of the file tells which one is the last.
  private var box: [UInt8]?
  private var opened: [UInt8] = []
  /// How many bytes of `opened` were taken.
  private var taken = 0

  init(of file: LentFile, from place: Int, key: consuming SecretBytes) throws(VaultError) {
    (self.file, self.place, self.key) = (file, place, SharedSecret(key))
    let first = try file.read(at: place, upTo: Self.boxCount)
    box = first
    self.place += first.count
  }

  /// The next `count` bytes.
  ///
  /// - Throws: `fileUnreadable` where there are fewer, and where a chunk was changed.
  func take(_ count: Int) throws(VaultError) -> [UInt8] {
    while opened.count - taken < count {
      guard try openNext() else { throw .otherRows }
    }
    defer { taken += count }
    return Array(opened[taken..<taken + count])
  }

  /// Whether everything was taken.
  var isAtEnd: Bool {
    get throws(VaultError) {
      while opened.count == taken {
        guard try openNext() else { return true }
      }
      return false
    }
  }

  /// Opens the next chunk. False after the last one.
  private func openNext() throws(VaultError) -> Bool {
    guard let box else { return false }
    let next = try file.read(at: place, upTo: Self.boxCount)
    place += next.count
    do {
      let chunk = try AEAD.open(box, key: key.bytes, aad: aad(number, isLast: next.isEmpty))
      opened.removeFirst(taken)
      taken = 0
      chunk.withUnsafeBytes { opened += $0 }
    } catch .authenticationFailed {
      throw .fileUnreadable("the backup was damaged or cut off, or something was appended")
    } catch {
      throw VaultError(cause: error)
    }
    number += 1
    self.box = next.isEmpty ? nil : next
    return true
  }
}
