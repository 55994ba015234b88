internal import Glibc
package import Primitives
internal import Synchronization

/// Searches all writable memory of a process for a secret. The pattern itself is kept masked except for its first
/// byte, so that the search does not find its own copy.
package struct MemoryScan: Sendable {
  private static let mask: UInt8 = 0x5A
  /// Held during a search, because the buffer of another search in this process would count as an occurrence.
  private static let turn = Mutex(())
  private let masked: [UInt8]
  private let first: Int32

  package init(for secret: borrowing SecretBytes) {
    masked = secret.withUnsafeBytes { $0.map { $0 ^ Self.mask } }
    first = Int32(masked[0] ^ Self.mask)
  }

  /// How often the secret occurs. The buffer that memory is copied into is wiped after each step and is not searched
  /// itself.
  ///
  /// - Parameter process: another process. Only root can read the memory of one that refuses inspection. Nothing is
  ///   found in memory that cannot be read.
  package func occurrences(in process: Int32? = nil) -> Int {
    Self.turn.withLock { _ in search(process) }
  }

  private func search(_ process: Int32?) -> Int {
    let files = if let process { "/proc/\(process)" } else { "/proc/self" }
    let size = 1 << 20
    let window = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4096)
    let start = UInt(bitPattern: window)
    let ignored = process == nil ? start..<start + UInt(size) : 0..<0
    let fd = open("\(files)/mem", O_RDONLY | O_CLOEXEC)
    precondition(fd >= 0 || process != nil, "a process may read its own memory")
    defer {
      close(fd)
      window.deallocate()
    }
    guard fd >= 0 else { return 0 }
    var found = 0
    for range in writableRanges(from: "\(files)/maps") {
      // Windows overlap by one byte less than the secret, so that an occurrence across a border is found, and none is
      // counted twice.
      var address = range.lowerBound
      while address < range.upperBound {
        let wanted = min(size, Int(range.upperBound - address))
        let received = pread(fd, window, wanted, off_t(address))
        if received < masked.count { break }
        found += count(in: UnsafeRawBufferPointer(start: window, count: received), at: address, except: ignored)
        memset(window, 0, size)
        address += UInt(received - masked.count + 1)
      }
    }
    return found
  }

  private func count(in window: UnsafeRawBufferPointer, at address: UInt, except ignored: Range<UInt>) -> Int {
    guard let base = window.baseAddress else { return 0 }
    var found = 0
    var offset = 0
    while offset + masked.count <= window.count,
      let hit = memchr(base + offset, first, window.count - masked.count + 1 - offset)
    {
      offset = UnsafeRawPointer(hit) - base
      if !ignored.contains(address + UInt(offset)),
        masked.indices.allSatisfy({ window[offset + $0] ^ Self.mask == masked[$0] })
      {
        found += 1
      }
      offset += 1
    }
    return found
  }

  private func writableRanges(from path: String) -> [Range<UInt>] {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(fd) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while case let received = read(fd, &chunk, chunk.count), received > 0 { text += chunk[..<received] }
    return String(decoding: text, as: UTF8.self).split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ")
      let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      return ends.count == 2 && fields[1].hasPrefix("rw") ? ends[0]..<ends[1] : nil
    }
  }
}
