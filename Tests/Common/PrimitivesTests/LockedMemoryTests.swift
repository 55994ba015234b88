internal import Glibc
internal import Primitives
internal import Testing

/// Each test runs in its own process, so that no other test reuses the memory that was just freed.
@Suite struct LockedMemoryTests {
  @Test("the memory of a secret is wiped when it is destroyed, including its unused capacity")
  func wiped() async {
    await #expect(processExitsWith: .success) {
      var address: UInt = 0
      do {
        var secret = SecretBytes(copying: pattern(200).span)
        // The block has 256 bytes: it holds the removed bytes and bytes that were never part of the secret.
        secret.resize(to: 100)
        address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        UnsafeMutablePointer<UInt8>(bitPattern: address + 255)?.pointee = 0x77
        #expect(ownMemory(at: address, count: 100) == pattern(100))
        #expect(ownMemory(at: address, count: 256)?.last == 0x77)
      }
      #expect(ownMemory(at: address, count: 256) == [UInt8](repeating: 0, count: 256))
    }
  }

  @Test("the memory of a large secret is unmapped, and a secret that grew leaves no copy behind")
  func unmapped() async {
    await #expect(processExitsWith: .success) {
      var small: UInt = 0
      var large: UInt = 0
      do {
        var secret = SecretBytes(copying: pattern(200).span)
        small = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        secret.resize(to: 1 << 20)
        large = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        #expect(ownMemory(at: small, count: 200) == [UInt8](repeating: 0, count: 200))
        #expect(ownMemory(at: large, count: 200) == pattern(200))
      }
      #expect(ownMemory(at: large, count: 200) == nil)
    }
  }

  @Test("the memory of many small secrets is returned when they are destroyed, and can be reused")
  func givenBack() async {
    await #expect(processExitsWith: .success) {
      for round in 1...2 {
        var addresses: [UInt] = []
        do {
          let secrets = (0..<10_000).map { _ in SharedSecret(SecretBytes(copying: pattern(32).span)) }
          addresses = secrets.map { $0.bytes.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
          #expect(Set(addresses).count == secrets.count)
          #expect(addresses.allSatisfy { ownMemory(at: $0, count: 32) == pattern(32) }, "round \(round)")
        }
        // Some slots stay for the next secrets.
        let left = addresses.count { ownMemory(at: $0, count: 32) != nil }
        #expect(left > 0 && left < 200, "round \(round): \(left)")
      }
    }
  }

  /// Whether this process may lock so much more memory. Only root always may.
  private static func canLock(_ count: Int) -> Bool {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 4096)
    defer { memory.deallocate() }
    defer { munlock(memory, count) }
    return mlock(memory, count) == 0
  }

  @Test("secrets are locked in memory, and excluded from core dumps and forked children", arguments: [32, 1 << 20])
  func flags(count: Int) throws {
    let secret = SecretBytes(count: count)
    let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let flags = try #require(mappingFlags(at: address))
    // The kernel's flags for locked, not dumped and not copied on fork.
    if Self.canLock(count) { #expect(flags.contains("lo")) }
    #expect(flags.contains("dd"))
    #expect(flags.contains("dc"))
  }

  @Test("secrets work even if no memory may be locked")
  func withoutLocking() async {
    await #expect(processExitsWith: .success) {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none)
      // Drop root's privileges, because RLIMIT_MEMLOCK does not apply to root.
      if getuid() == 0 { setuid(65534) }
      var page = [UInt8](repeating: 0, count: 4096)
      let refused = mlock(&page, page.count) != 0
      #expect(refused, "this process may lock memory, so the test proves nothing")
      let small = SecretBytes(copying: pattern(32).span)
      let large = SecretBytes(copying: pattern(100_000).span)
      #expect(bytes(of: small) == pattern(32))
      #expect(bytes(of: large) == pattern(100_000))
    }
  }

  @Test("memory grows with the number of live secrets, not with the number ever made")
  func flat() async {
    await #expect(processExitsWith: .success) {
      func churn() { for count in 0..<20_000 { _ = SecretBytes(count: count % 600) } }
      churn()
      let before = addressSpace()
      churn()
      // If slots were not reused, the small secrets alone would take some 550 pages.
      #expect(addressSpace() <= before + 100)
    }
  }
}

/// Reads this process's memory at an address, or returns nil if nothing is mapped there. Dereferencing a pointer would
/// crash.
private func ownMemory(at address: UInt, count: Int) -> [UInt8]? {
  let fd = open("/proc/self/mem", O_RDONLY)
  defer { close(fd) }
  var content = [UInt8](repeating: 0xEE, count: count)
  return pread(fd, &content, count, off_t(address)) == count ? content : nil
}

private func lines(of path: String) -> [Substring] {
  let fd = open(path, O_RDONLY)
  defer { close(fd) }
  var text: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: 1 << 16)
  while case let received = read(fd, &chunk, chunk.count), received > 0 { text += chunk[..<received] }
  return String(decoding: text, as: UTF8.self).split(separator: "\n")
}

private func range(ofMapping line: Substring) -> Range<UInt>? {
  let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
  return ends.count == 2 ? ends[0]..<ends[1] : nil
}

/// The size of the address space in pages. The number of mappings is not a measure, because the kernel merges
/// neighbours.
private func addressSpace() -> Int {
  lines(of: "/proc/self/statm").first?.split(separator: " ").first.flatMap { Int($0) } ?? .max
}

private func mappingFlags(at address: UInt) -> [Substring]? {
  var inside = false
  for line in lines(of: "/proc/self/smaps") {
    if let range = range(ofMapping: line) { inside = range.contains(address) }
    if inside, line.hasPrefix("VmFlags:") { return line.split(separator: " ").dropFirst().map { $0 } }
  }
  return nil
}
