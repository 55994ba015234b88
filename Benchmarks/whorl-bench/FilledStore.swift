import Primitives
import SecretModel

/// A store with a given number of items that need no finger, named `service-1/me` and so on.
enum FilledStore {
  static func make(at path: String, items: Int) async throws {
    let vault = try await ScratchVault(at: path)
    for start in stride(from: 1, through: items, by: ItemToAdd.limit) {
      let some = try (start..<min(start + ItemToAdd.limit, items + 1)).map { number in
        ItemToAdd(
          NewItem(named: try ItemName(parsing: "service-\(number)/me"), access: AccessControl(.none)),
          secret: SharedSecret(SecretBytes(copying: Array("secret-\(number)".utf8).span)))
      }
      guard try await vault.service.add(some).isEmpty else { throw BenchFailure("\(path) is not empty") }
    }
    await vault.close()
  }

  /// The same as items of the Secret Service.
  static func makeSecrets(at path: String, items: Int) async throws {
    let vault = try await ScratchVault(at: path)
    for start in stride(from: 1, through: items, by: ItemToAdd.limit) {
      let some = (start..<min(start + ItemToAdd.limit, items + 1)).map { number in
        ItemToAdd(
          SecretServiceItem.item(
            named: SecretServiceItem.newName(), in: SecretServiceFolder.usualCollection, label: "item \(number)",
            attributes: [
              "service": "service-\(number)", "account": "me", "xdg:schema": "org.freedesktop.Secret.Generic",
            ],
            access: AccessControl(.none)),
          secret: SharedSecret(SecretBytes(copying: Array("secret-\(number)".utf8).span)))
      }
      guard try await vault.service.add(some).isEmpty else { throw BenchFailure("\(path) is not empty") }
    }
    await vault.close()
  }

  /// The same with secrets of 1 MiB.
  static func makeLarge(at path: String, items: Int) async throws {
    let vault = try await ScratchVault(at: path)
    for number in 1...items {
      let item = NewItem(named: try ItemName(parsing: "service-\(number)/me"), access: AccessControl(.none))
      _ = try await vault.service.add(
        [ItemToAdd(item, secret: SharedSecret(SecretBytes(count: NewItem.secretLimit)))])
    }
    await vault.close()
  }
}
