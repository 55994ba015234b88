import Presence
import Primitives
import Security
import Synchronization
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import VirtualFinger
import Whorl

/// The suites that use the process's shared store, one test after the other.
@Suite("Keychain Services", .serialized, SharedStoreTrait())
enum SharedStore {}

/// Makes a new store the shared one, without a reader.
struct Keychain {
  let scratch: ScratchStore
  let vault: Vault
  let store: SecretStore

  init(passcode: String? = ScratchStore.passcode) async throws {
    scratch = try await ScratchStore(passcode: passcode)
    vault = try scratch.open()
    store = SecretStore(service: VaultSession(of: vault), prompt: Nobody())
    SecretStore.useAsShared(store)
  }
}

/// Answers nothing, so that a test that asks a person fails.
struct Nobody: AuthenticationPrompt {
  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted, .secretWanted: await session.cancel()
    default: break
    }
  }
}

/// Makes a new store the shared one, with a virtual reader, an enrolled finger, and a person at the prompt.
struct GuardedKeychain {
  let image: ImageReaderStore
  let vault: Vault
  let store: SecretStore
  let person: Toucher

  init() async throws {
    image = try await ImageReaderStore()
    person = Toucher(socket: image.socket)
    vault = try image.store.open(reader: image.process)
    store = SecretStore(service: VaultSession(of: vault), prompt: person)
    _ = try await image.enroll(.rightIndex, in: vault)
    SecretStore.useAsShared(store)
  }
}

/// Touches the reader whenever a finger is wanted, unless configured otherwise, and counts the prompts.
final class Toucher: AuthenticationPrompt {
  struct Memory {
    var touches = 0
    var reasons: [String?] = []
    var cancels = false
  }

  private let socket: String
  let memory = Mutex(Memory())

  init(socket: String) { self.socket = socket }

  var touches: Int { memory.withLock { $0.touches } }

  func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    switch event {
    case .touchWanted:
      let cancels = memory.withLock { memory in
        memory.reasons.append(session.reason)
        if !memory.cancels { memory.touches += 1 }
        return memory.cancels
      }
      if cancels { return await session.cancel() }
      try? VirtualImageReader(socket: socket).press(
        SyntheticFinger(person: 1, finger: .rightIndex).impression(.random(in: 1...1_000_000)))
    case .secretWanted: await session.decline()
    default: break
    }
  }
}

/// Stands for an `LAContext` in a query.
final class GivenContext: NSObject, AuthenticationContextHolder {
  let context: AuthenticationContext

  init(_ context: AuthenticationContext) { self.context = context }

  func authenticationContext() throws(VaultError) -> AuthenticationContext { context }
  var keychainReason: String? { "the context's own reason" }
}

/// A query for a password.
func password(_ account: String? = nil, service: String? = "mail", _ more: [CFString: Any] = [:]) -> CFDictionary {
  var query = more
  query[kSecClass] = kSecClassGenericPassword
  if let account { query[kSecAttrAccount] = account }
  if let service { query[kSecAttrService] = service }
  return query as CFDictionary
}

/// Adds a password.
func add(_ account: String, service: String = "mail", _ secret: String = "secret", _ more: [CFString: Any] = [:])
  -> OSStatus
{
  SecItemAdd(password(account, service: service, more.merging([kSecValueData: Data(secret.utf8)]) { $1 }), nil)
}

/// The status and the result of a search.
func copy(_ query: CFDictionary) -> (OSStatus, CFTypeRef?) {
  var result: CFTypeRef?
  let status = SecItemCopyMatching(query, &result)
  return (status, result)
}

/// The secret of one item, as text.
func secret(_ account: String? = nil, service: String? = "mail", _ more: [CFString: Any] = [:]) -> String? {
  let (status, result) = copy(password(account, service: service, more.merging([kSecReturnData: true]) { $1 }))
  guard status == errSecSuccess else { return nil }
  return (result as? Data).map { String(decoding: $0, as: UTF8.self) }
}
