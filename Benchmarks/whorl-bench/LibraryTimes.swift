import Foundation
import Keys
import Primitives
import Security
import Whorl

/// The time of each call of `Security` in a program that keeps a store open. Runs in this process, on stores that
/// `scripts/bench` has filled.
struct LibraryTimes {
  /// The folder that contains the stores.
  let work: String

  func measure(into report: inout Report) throws {
    defer { SecretStore.useAsShared(nil) }
    var copies: [Int: Samples] = [:]
    for size in [100, 100_000] {
      try use(size)
      copies[size] = try copyMatching(size)
    }
    let writes = try addAndDelete()
    // It is at rest when nobody has called for two seconds.
    sleep(3)
    let resting = try ChildMemory.proportionalKiB()
    let firsts = try firstCalls()
    try use(1_000)
    let hits = try thousandHits()
    let (signatures, floor) = try sign()
    for samples in copies.sorted(by: { $0.key < $1.key }).map(\.value) + [
      writes.adds, writes.bareAdds, writes.deletes, writes.bareDeletes,
      writes.commits, firsts, hits, signatures, floor,
    ] {
      report.add(samples)
    }
    let (small, large) = (copies[100]?.median ?? .nan, copies[100_000]?.median ?? .nan)
    report.promise("SecItemCopyMatching at 100,000", large / 1e3, atMost: 300, "µs")
    report.promise("SecItemCopyMatching: 100,000 of 100", large / small, atMost: 1.2)
    let (adds, deletes) = (writes.adds, writes.deletes)
    report.promise(
      "SecItemAdd over a durable commit of the same rows", (adds.median - writes.bareAdds.median) / 1e3,
      atMost: 450, "µs")
    report.promise(
      "SecItemDelete over a durable commit of the same rows",
      (deletes.median - writes.bareDeletes.median) / 1e3, atMost: 450, "µs")
    report.promise("SecItemAdd, slowest tenth", adds.percentile(0.9) / 1e6, atMost: 5, "ms")
    report.promise("SecItemDelete, slowest tenth", deletes.percentile(0.9) / 1e6, atMost: 5, "ms")
    report.promise("first call of a program", firsts.median / 1e6, atMost: 12, "ms")
    report.promise("whorld at rest, proportional", Double(resting) / 1024, atMost: 8, "MiB")
    report.promise("a search with 1,000 hits", hits.median / 1e6, atMost: 20, "ms")
    report.promise("SecKeyCreateSignature over OpenSSL", (signatures.median - floor.median) / 1e6, atMost: 1, "ms")
  }

  private func use(_ size: Int) throws {
    SecretStore.useAsShared(try SecretStore.open(at: "\(work)/whorl-\(size)"))
  }

  private func copyMatching(_ size: Int) throws -> Samples {
    let query =
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "service-7", kSecAttrAccount: "me", kSecReturnData: true,
      ] as CFDictionary
    return try Samples.taking("SecItemCopyMatching, \(size)", 1_000) {
      var found: CFTypeRef?
      guard SecItemCopyMatching(query, &found) == errSecSuccess, found is Data || found is NSData else {
        throw BenchFailure("the item of the store is not found")
      }
    }
  }

  /// The first call on a store that was not open.
  private func firstCalls() throws -> Samples {
    let query =
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "service-7", kSecAttrAccount: "me", kSecReturnData: true,
      ] as CFDictionary
    return try Samples.taking("the first call", 30) {
      try use(100_000)
      var found: CFTypeRef?
      guard SecItemCopyMatching(query, &found) == errSecSuccess else { throw BenchFailure("the item is not found") }
    }
  }

  private struct Writes {
    var adds = Samples(name: "SecItemAdd, 100000")
    var bareAdds = Samples(name: "floor: the same rows added by SQLite alone")
    var deletes = Samples(name: "SecItemDelete, 100000")
    var bareDeletes = Samples(name: "floor: the same rows deleted by SQLite alone")
    var commits = Samples(name: "floor: SQLite commit, WAL and FULL")
  }

  /// Makes the calls with pauses, as an interactive program does, so that no call waits for cleanup of the one before.
  /// The commits of plain SQLite are interleaved, because the speed of a disk varies over time.
  private func addAndDelete() throws -> Writes {
    let bare = try Floors.Committing("\(work)/library-floor.db")
    let rows = try BareRows(copying: "\(work)/whorl-100000", to: "\(work)/library-rows.db")
    let item: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "library", kSecAttrAccount: "me",
    ]
    let query = item as CFDictionary
    var added = item
    added[kSecValueData] = Data("secret".utf8)
    let new = added as CFDictionary
    var writes = Writes()
    for _ in 0..<200 {
      usleep(1_000)
      try writes.commits.take { try bare.commit() }
      usleep(1_000)
      try writes.bareAdds.take { try rows.add() }
      usleep(1_000)
      try writes.adds.take {
        guard SecItemAdd(new, nil) == errSecSuccess else { throw BenchFailure("an item cannot be added") }
      }
      usleep(1_000)
      try writes.bareDeletes.take { try rows.delete() }
      usleep(1_000)
      try writes.deletes.take {
        guard SecItemDelete(query) == errSecSuccess else { throw BenchFailure("an item cannot be deleted") }
      }
    }
    return writes
  }

  private func thousandHits() throws -> Samples {
    let query =
      [
        kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnAttributes: true,
      ] as CFDictionary
    return try Samples.taking("SecItemCopyMatching, 1,000 hits", 30) {
      var found: CFTypeRef?
      guard SecItemCopyMatching(query, &found) == errSecSuccess, (found as? NSArray)?.count ?? 0 >= 1_000 else {
        throw BenchFailure("the items of the store are not found")
      }
    }
  }

  private func sign() throws -> (Samples, Samples) {
    let message = Data("message".utf8)
    let attributes =
      [
        kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
        kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: Data("bench".utf8)],
      ] as CFDictionary
    guard let key = SecKeyCreateRandomKey(attributes, nil) else { throw BenchFailure("no key can be made") }
    defer { SecItemDelete([kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("bench".utf8)] as CFDictionary) }
    let signatures = try Samples.taking("SecKeyCreateSignature, P-256", 200) {
      guard SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, message as CFData, nil) != nil else {
        throw BenchFailure("the key does not sign")
      }
    }
    let own = try PrivateKey.generate(.ec(.p256))
    let floor = try Samples.taking("floor: ECDSA P-256", 200) {
      _ = try own.sign(Array(message), .ecdsa(.sha256, .message, .x962))
    }
    return (signatures, floor)
  }
}
