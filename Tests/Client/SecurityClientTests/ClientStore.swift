import Security
import Testing
import Vault
import VaultDriver
import Whorl

/// The suites that use the shared store, of which a process has one: one test after the other.
@Suite("Client code", .serialized, SharedStoreTrait())
enum ClientCode {}

/// A store of its own as the shared one, without a reader: nothing here asks for a finger.
struct ClientStore {
  private let scratch: ScratchStore

  init() async throws {
    scratch = try await ScratchStore(passcode: ScratchStore.passcode)
    SecretStore.useAsShared(SecretStore(service: VaultSession(of: try scratch.open())))
  }
}
