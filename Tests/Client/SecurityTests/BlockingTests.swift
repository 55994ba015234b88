import Presence
import Security
import Testing
import Vault
import VaultDriver
import VaultStore
import Whorl

extension SharedStore {
  @Suite("Calls that block")
  struct BlockingTests {
    let keychain: Keychain

    init() async throws { keychain = try await Keychain() }

    @Test("keychain calls all finish, even if more callers block than the thread pool has threads")
    func crowdOnThePool() async {
      #expect(add("alice") == errSecSuccess)
      await withTaskGroup(of: Bool.self) { group in
        for _ in 1...64 { group.addTask { secret("alice") == "secret" } }
        for await right in group { #expect(right) }
      }
    }

    @Test("keychain calls that block every thread of the pool still get their prompts")
    func fingersWithoutPool() async throws {
      let guarded = try await GuardedKeychain()
      let control = try #require(SecAccessControlCreateWithFlags(nil, "ak", .biometryAny, nil))
      #expect(add("alice", "secret", [kSecAttrAccessControl: control]) == errSecSuccess)
      await withTaskGroup(of: Bool.self) { group in
        for _ in 1...6 { group.addTask { secret("alice") == "secret" } }
        for await right in group { #expect(right) }
      }
      #expect(guarded.person.touches == 6)
    }

    @Test("keychain calls work on the main thread, on other threads and in actors")
    func everywhere() async {
      #expect(add("alice") == errSecSuccess)
      #expect(await MainActor.run { secret("alice") } == "secret")
      actor Caller { func call() -> String? { secret("alice") } }
      #expect(await Caller().call() == "secret")
      let answer: String? = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: secret("alice")) }
      }
      #expect(answer == "secret")
    }

    @Test("keychain writers and readers on many threads see whole items")
    func writers() async {
      await withTaskGroup(of: Void.self) { group in
        for writer in 1...8 {
          group.addTask {
            for round in 1...5 {
              #expect(add("\(writer)-\(round)", "\(writer)-\(round)") == errSecSuccess)
              #expect(secret("\(writer)-\(round)") == "\(writer)-\(round)")
            }
          }
        }
      }
      let (_, rows) = copy(password(nil, [kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitAll]))
      #expect((rows as? NSArray)?.count == 40)
    }

    @Test("two hundred results of a search can be read as any type of array")
    func manyResults() throws {
      for number in 1...200 { #expect(add("\(number)", "\(number)") == errSecSuccess) }
      let query: [CFString: Any] = [
        kSecReturnAttributes: true, kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll,
      ]
      let (_, result) = copy(password(nil, query))
      let rows = try #require(result as? NSArray)
      #expect(rows.count == 200)
      #expect(rows[7] as AnyObject === rows[7] as AnyObject)
      #expect((rows.firstObject as? NSDictionary)?[kSecAttrAccount] as? String == "1")
      #expect((rows.lastObject as? [String: Any])?[kSecValueData as String] as? Data == Data("200".utf8))
      #expect(
        rows.compactMap { ($0 as? [String: Any])?[kSecAttrAccount as String] as? String } == (1...200).map(String.init))
      #expect((result as? [[String: Any]])?.count == 200)
      #expect((rows.copy() as? NSArray)?.count == 200)
      #expect((rows.mutableCopy() as? NSMutableArray)?.count == 200)
      #expect((rows as? Array<NSDictionary>)?.count == 200)
    }

    @Test("the median durations of keychain and signature calls are printed")
    func cost() throws {
      #expect(add("alice") == errSecSuccess)
      let clock = ContinuousClock()
      func median(_ body: () -> Void) -> Duration {
        var times = (1...300).map { _ in clock.measure(body) }
        times.sort()
        return times[150]
      }
      print("SecItemCopyMatching, data:", median { _ = secret("alice") })
      print("SecItemCopyMatching, attributes:", median { _ = copy(password("alice", [kSecReturnAttributes: true])) })
      print("SecItemCopyMatching, nothing:", median { _ = SecItemCopyMatching(password("alice"), nil) })
      print("SecItemCopyMatching, absent:", median { _ = SecItemCopyMatching(password("bob"), nil) })
      print("the query alone:", median { _ = password("alice", [kSecReturnData: true]) })
      let key = try newKey(kSecAttrKeyTypeEC, 256, [kSecAttrIsPermanent: true])
      let data = Data([1]) as CFData
      print(
        "SecKeyCreateSignature, stored:",
        median { _ = SecKeyCreateSignature(key, .ecdsaSignatureMessageX962SHA256, data, nil) })
      let memory = try newKey()
      print(
        "SecKeyCreateSignature, memory:",
        median { _ = SecKeyCreateSignature(memory, .ecdsaSignatureMessageX962SHA256, data, nil) })
    }
  }
}
