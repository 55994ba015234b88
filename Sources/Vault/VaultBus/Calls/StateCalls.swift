internal import SDBus
internal import SecretModel

extension VaultCall {
  static let stateCalls = [status, openClasses, unlockChange, surroundings, problems, log]

  static let status = VaultCall("Status", gives: "a{sv}") { (vault, _) async throws(VaultError) in
    [try await vault.service.status().busValue]
  }
  static let openClasses = VaultCall("OpenClasses", gives: "as") { (vault, _) async throws(VaultError) in
    [try await vault.service.openClasses().busValue]
  }
  static let unlockChange = VaultCall("UnlockChange", takes: "b", gives: "b") {
    (vault, call) async throws(VaultError) in
    [.boolean(try await vault.service.unlockChange(from: try Bool(bus: call[0])))]
  }
  static let surroundings = VaultCall("Surroundings", takes: "a{sv}", gives: "a{sv}") {
    (vault, call) async throws(VaultError) in
    [try await vault.service.surroundings(otherThan: try Surroundings.known(bus: call[0])).busValue]
  }
  static let problems = VaultCall("Problems", gives: "a(sav)") { (vault, _) async throws(VaultError) in
    [try await vault.service.problems().busValue]
  }
  static let log = VaultCall("Log", takes: "a{sv}", gives: "aa{sv}") { (vault, call) async throws(VaultError) in
    [try await vault.service.log(try AuditSearch(bus: call[0])).busValue]
  }
}
