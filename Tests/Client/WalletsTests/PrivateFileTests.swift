import Testing

@testable import Settings

@Suite("Files beside a wallet")
struct PrivateFileTests {
  @Test("a wallet file with more bytes than its size says is refused if they exceed the limit")
  func growing() throws {
    // A file of /proc reports the length 0 but has contents, like a file that grows while it is read.
    #expect(try PrivateFile.read("/proc/self/maps").count > 500)
    #expect {
      try PrivateFile.read("/proc/self/maps", limit: 500)
    } throws: {
      if case .damaged = $0 as? WalletError { true } else { false }
    }
  }
}
