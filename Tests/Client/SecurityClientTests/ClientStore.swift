import Presence
import Security
import Testing
import Vault
import VaultDriver
import VaultItems
import VaultStore
import Whorl

/// The suites that use the process's shared store, one test after the other.
@Suite("Client code", .serialized, SharedStoreTrait())
enum ClientCode {}

/// Makes a new store the shared one, without a reader: nothing here asks for a finger.
struct ClientStore {
  private let scratch: ScratchStore

  init() async throws {
    scratch = try await ScratchStore(passcode: ScratchStore.passcode)
    SecretStore.useAsShared(SecretStore(service: VaultSession(of: try scratch.open())))
  }
}
