internal import Fingerprint
internal import SecretModel

extension VaultCall {
  static let fingerCalls = [biometry, presentSets, enroll, unenroll, losses, useAdapter, readers]

  static let biometry = VaultCall("Biometry", gives: "a{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.biometry().busValue]
  }
  static let presentSets = VaultCall("PresentSets", gives: "aa{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.presentSets().busValue]
  }
  static let enroll = VaultCall("Enroll", takes: "sa{sv}", gives: "a{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    [try await vault.service.enroll(try Finger(bus: call[0]), try Asking(bus: call[1])).busValue]
  }
  static let unenroll = VaultCall("Unenroll", takes: "sa{sv}", gives: "a{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    let finger = try Word(bus: call[0]).word.isEmpty ? nil : try Finger(bus: call[0])
    return [try await vault.service.unenroll(finger, try Asking(bus: call[1])).busValue]
  }
  static let losses = VaultCall("Losses", takes: "s", gives: "a(ayay)") { (vault, call) async throws(VaultError) in
    [try await vault.service.losses(try LosingChange(bus: call[0])).busValue]
  }
  static let useAdapter = VaultCall("UseAdapter", takes: "sa{sv}", isChange: true) {
    (vault, call) async throws(VaultError) in
    let adapter = try Word(bus: call[0]).word.isEmpty ? nil : try ReaderAdapter(bus: call[0])
    try await vault.service.useAdapter(adapter, try Asking(bus: call[1]))
    return []
  }
  static let readers = VaultCall("Readers", gives: "a{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.readers().busValue]
  }
}
