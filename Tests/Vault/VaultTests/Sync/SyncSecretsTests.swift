internal import Keys
internal import MemorySearch
internal import Primitives
internal import SecretModel
internal import Testing

@testable internal import VaultSync

/// Each test runs in its own process, because it searches the whole memory of the process.
@Suite struct SyncSecretsTests {
  @Test("publishing a synced item leaves no digest of its secret in memory", .timeLimit(.minutes(2)))
  func noDigest() async {
    await #expect(processExitsWith: .success) {
      let (bytes, digits): (MemoryScan, MemoryScan)
      do {
        let secret = SharedSecret(try Random.key())
        (bytes, digits) = try scans(forDigestOf: secret)
        try sign(secret)
      }
      #expect(bytes.occurrences() == 0)
      #expect(digits.occurrences() == 0)
    }
  }
}

/// Searches for the digest of a secret, and for its digits.
private func scans(forDigestOf secret: SharedSecret) throws -> (MemoryScan, MemoryScan) {
  let digest = Digest.sha256(secret: secret.bytes)
  var text = SecretBytes(count: 2 * digest.count)
  digest.withUnsafeBytes { digest in
    text.withUnsafeMutableBytes { text in
      for (place, byte) in digest.enumerated() {
        (text[2 * place], text[2 * place + 1]) = Hexadecimal.digits(of: byte)
      }
    }
  }
  return (MemoryScan(for: digest), MemoryScan(for: text))
}

/// Makes a version of an item, and signs it.
private func sign(_ secret: SharedSecret) throws {
  let keys = try MemberKeys.make()
  let id = try #require(MemberID(String(repeating: "a", count: 32)))
  let item = NewItem(named: try ItemName(parsing: "mail"), access: AccessControl(.none))
  let hidden = try HiddenSecret(secret.bytes)
  let head = Revision.Head(
    clock: LogicalClock(1, 1), created: 0, item: DescribedItem(item, secret: secret.bytes.count),
    commitment: hidden.commitment,
    modified: 0, seen: [id.description: LogicalClock(1, 1)])
  _ = try Revision(
    head, secretFile: hidden.file(under: SecretLock(item), for: [], epoch: 1), of: "circle", by: keys, as: id)
}
