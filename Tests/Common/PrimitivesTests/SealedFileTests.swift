import Glibc
import Testing

@testable import Primitives

@Suite("Secrets in a sealed memory file")
struct SealedFileTests {
  @Test("secrets in a sealed memory file are read back unchanged, each from its position")
  func severalSecrets() throws {
    var writer = try SealedFile.Writer()
    var places: [SealedFile.Place] = []
    for count in [32, 0, 70_000] { places.append(try writer.append(SecretBytes(copying: pattern(count).span))) }
    let sent = try writer.seal()
    let received = try SealedFile(received: dup(sent.descriptor), limit: 100_000)
    for (place, count) in zip(places, [32, 0, 70_000]) {
      #expect(bytes(of: try received.secret(at: place)) == pattern(count))
    }
    let total = received.count
    #expect(total == 70_032)
  }

  @Test("secrets in a sealed memory file cannot be changed by the process that made the file")
  func isSealed() throws {
    let file = try SealedFile.make(of: SecretBytes(copying: pattern(32).span))
    let descriptor = file.descriptor
    #expect(pwrite(descriptor, "x", 1, 0) == -1 && errno == EPERM)
    #expect(ftruncate(descriptor, 1) == -1 && errno == EPERM)
    #expect(ftruncate(descriptor, 100) == -1 && errno == EPERM)
    let mapped = mmap(nil, 32, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    #expect(mapped == MAP_FAILED)
  }

  @Test("secrets are refused from an unsealed memory file, a file on disk, a socket and a bad descriptor")
  func unsealedFiles() throws {
    var path = Array("/tmp/whorl-sealed-XXXXXX".utf8CString)
    let onDisk = mkstemp(&path)
    unlink(path)
    var pair: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
    defer { close(pair[1]) }
    for descriptor in [onDisk, pair[0], unsealedMemoryFile(), -1] {
      #expect(throws: SealedFile.Failure.unsealed) { _ = try SealedFile(received: descriptor, limit: 100).count }
    }
  }

  @Test("secrets in a sealed memory file are refused if the file exceeds the size limit")
  func tooLong() throws {
    let file = try SealedFile.make(of: SecretBytes(count: 101))
    let descriptor = dup(file.descriptor)
    #expect(throws: SealedFile.Failure.tooLong(limit: 100)) {
      _ = try SealedFile(received: descriptor, limit: 100).count
    }
  }

  @Test("secrets at positions outside a sealed memory file are refused, however large the numbers are")
  func placesOutside() throws {
    let file = try SealedFile.make(of: SecretBytes(count: 10))
    for (offset, count) in [(0, 11), (10, 1), (11, 0), (-1, 1), (1, -1), (.max, .max), (1, .max)] {
      #expect(throws: SealedFile.Failure.outside) {
        _ = try file.secret(at: SealedFile.Place(offset: offset, count: count)).count
      }
    }
  }

  @Test("sealed memory files leave no descriptor open, after success and after failure")
  func noDescriptorLeft() async {
    await #expect(processExitsWith: .success) {
      // A test that runs at the same time can have one that the process inherits.
      let before = (0..<1_024).filter { isMemoryFile($0) }
      for _ in 0..<10 {
        let file = try SealedFile.make(of: SecretBytes(count: 10))
        _ = try? SealedFile(received: dup(file.descriptor), limit: 1).count
        _ = try? SealedFile(received: dup(file.descriptor), limit: 10).secret().count
        _ = try SealedFile.Writer().seal().count
      }
      // Check only these files: the process opens others at any time.
      #expect((0..<1_024).filter { isMemoryFile($0) } == before)
    }
  }

  /// Returns a new descriptor that the caller owns.
  private func unsealedMemoryFile() -> Int32 {
    let name = "/dev/shm/whorl-unsealed-\(getpid())"
    let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    unlink(name)
    return descriptor
  }
}

/// Whether a descriptor of this process is open, and a memory file.
private func isMemoryFile(_ descriptor: Int32) -> Bool {
  var target = [UInt8](repeating: 0, count: 64)
  // readlink: writes no terminator
  let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
  return count > 0 && target.prefix(count).starts(with: "/memfd:".utf8)
}
