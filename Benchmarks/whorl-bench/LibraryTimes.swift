import Foundation
import Keys
import Security
import Whorl

/// What a program sees that keeps a store open and calls `Security`: each call in this process, on stores that
/// `scripts/bench` has filled.
struct LibraryTimes {
  /// The folder with the stores.
  let work: String

  func measure(into report: inout Report) throws {
    defer { SecretStore.useAsShared(nil) }
    var copies: [Int: Samples] = [:]
    for size in [100, 100_000] {
      try use(size)
      copies[size] = try copyMatching(size)
    }
    let (adds, deletes, commit) = try addAndDelete()
    try use(1_000)
    let hits = try thousandHits()
    let (signatures, floor) = try sign()
    for samples in copies.sorted(by: { $0.key < $1.key }).map(\.value) + [
      adds, deletes, commit, hits, signatures, floor,
    ] {
      report.add(samples)
    }
    let (small, large) = (copies[100]?.median ?? .nan, copies[100_000]?.median ?? .nan)
    report.promise("SecItemCopyMatching at 100,000", large / 1e3, atMost: 200, "µs")
    report.promise("SecItemCopyMatching: 100,000 of 100", large / small, atMost: 1.2)
    report.promise("SecItemAdd over one durable commit", (adds.median - commit.median) / 1e3, atMost: 200, "µs")
    report.promise("SecItemDelete over one durable commit", (deletes.median - commit.median) / 1e3, atMost: 200, "µs")
    report.promise("SecItemAdd, slowest tenth", adds.percentile(0.9) / 1e6, atMost: 5, "ms")
    report.promise("SecItemDelete, slowest tenth", deletes.percentile(0.9) / 1e6, atMost: 5, "ms")
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

  /// Calls as a person's program makes them: not back to back, so that none waits for what another left to be done. A
  /// bare commit of SQLite takes its turn among them, for a disk is not equally fast at all times.
  private func addAndDelete() throws -> (Samples, Samples, Samples) {
    let bare = try Floors.Committing("\(work)/library-floor.db")
    var commits: [UInt64] = []
    let item: [CFString: Any] = [
      kSecClass: kSecClassGenericPassword, kSecAttrService: "library", kSecAttrAccount: "me",
    ]
    let query = item as CFDictionary
    var added = item
    added[kSecValueData] = Data("secret".utf8)
    let new = added as CFDictionary
    var adds: [UInt64] = []
    var deletes: [UInt64] = []
    for _ in 0..<200 {
      usleep(1_000)
      let before = DispatchTime.now().uptimeNanoseconds
      try bare.commit()
      commits.append(DispatchTime.now().uptimeNanoseconds - before)
      usleep(1_000)
      let start = DispatchTime.now().uptimeNanoseconds
      guard SecItemAdd(new, nil) == errSecSuccess else { throw BenchFailure("an item cannot be added") }
      adds.append(DispatchTime.now().uptimeNanoseconds - start)
      usleep(1_000)
      let middle = DispatchTime.now().uptimeNanoseconds
      guard SecItemDelete(query) == errSecSuccess else { throw BenchFailure("an item cannot be deleted") }
      deletes.append(DispatchTime.now().uptimeNanoseconds - middle)
    }
    return (
      Samples(name: "SecItemAdd, 100000", nanoseconds: adds),
      Samples(name: "SecItemDelete, 100000", nanoseconds: deletes),
      Samples(name: "floor: SQLite commit, WAL and FULL", nanoseconds: commits)
    )
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
