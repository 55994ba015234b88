import Fingerprint
import Keys
import ReaderClient
import SecureMemory
import Vault

/// A store with a given number of items that need no finger, named `service-1/me` and so on.
enum FilledStore {
  static func item(_ number: Int) -> String { "service-\(number)/me" }
  static func secret(_ number: Int) -> String { "secret-\(number)" }

  static func make(at path: String, items: Int) async throws {
    _ = try await Vault.create(at: path, passcode: nil)
    let vault = try Vault(
      at: path, reader: ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic))
    let (context, _) = try await vault.openContext()
    for number in 1...items {
      try await vault.add(
        NewItem(named: ItemName(parsing: item(number)), access: AccessControl(.none)),
        secret: SecretBytes(copying: Array(secret(number).utf8).span), in: context)
    }
    await vault.closeContext(context)
  }
}
