import Presence
import Primitives
import ReaderClient
import Vault
import VaultStore

/// Makes a store in a folder, like one of the service: closed until the passcode is given, each time that a vault opens
/// it.
package func makeWaitForPasscode(storeAt path: String, passcode: String) async throws {
  let reader = ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic)
  let desk = ReaderDesk(reader, holdsReader: false, locks: ReaderLocks(runtimeFolder: path))
  let vault = try Vault(at: path, desk: desk, classKeys: ClassKeys(firstUnlock: .passcode))
  try await Person(passcodes: [passcode]).with(vault) { try await vault.unlock(in: $0) }
  await vault.shutdown()
}
