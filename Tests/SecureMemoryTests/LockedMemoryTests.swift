internal import Glibc
internal import SecureMemory
internal import Testing

/// Each in a process of its own, where no other test uses the memory that was just given back.
@Suite struct LockedMemoryTests {
  @Test("the memory of a secret is wiped when its owner lets go, the unused part of it too")
  func wiped() async {
    await #expect(processExitsWith: .success) {
      var address: UInt = 0
      do {
        var secret = SecretBytes(copying: pattern(200).span)
        // Bytes that were cut off and bytes never part of the secret are within the same 256.
        secret.resize(to: 100)
        address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        UnsafeMutablePointer<UInt8>(bitPattern: address + 255)?.pointee = 0x77
        #expect(ownMemory(at: address, count: 100) == pattern(100))
        #expect(ownMemory(at: address, count: 256)?.last == 0x77)
      }
      #expect(ownMemory(at: address, count: 256) == [UInt8](repeating: 0, count: 256))
    }
  }

  @Test("a large secret takes its memory with it, and one that grew leaves no smaller copy behind")
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

  @Test("secrets are locked, left out of core dumps and kept from forked children", arguments: [32, 1 << 20])
  func flags(count: Int) throws {
    let secret = SecretBytes(count: count)
    let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let flags = try #require(mappingFlags(at: address))
    // The kernel's names: locked, do not dump, do not copy on fork.
    #expect(flags.contains("lo"))
    #expect(flags.contains("dd"))
    #expect(flags.contains("dc"))
  }

  @Test("where nothing may be locked, secrets work all the same")
  func withoutLocking() async {
    await #expect(processExitsWith: .success) {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none)
      // Root may lock beyond any limit.
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

  @Test("memory does not grow with the number of secrets made, only with those alive")
  func flat() async {
    await #expect(processExitsWith: .success) {
      func churn() { for count in 0..<20_000 { _ = SecretBytes(count: count % 600) } }
      churn()
      let before = addressSpace()
      churn()
      // Were they kept, the small ones of a churn alone would take some 550 pages.
      #expect(addressSpace() <= before + 100)
    }
  }
}

/// What this process holds at an address, or nil where it holds nothing: without the fault a pointer would cause.
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

/// In pages: the number of mappings would tell nothing, since the kernel joins neighbours.
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
