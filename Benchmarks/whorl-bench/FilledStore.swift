import SecretModel

/// A store with a given number of items that need no finger, named `service-1/me` and so on.
enum FilledStore {
  static func make(at path: String, items: Int) async throws {
    let vault = try await ScratchVault(at: path)
    for number in 1...items { _ = try await vault.add("service-\(number)/me", "secret-\(number)", .none) }
    await vault.close()
  }
}
