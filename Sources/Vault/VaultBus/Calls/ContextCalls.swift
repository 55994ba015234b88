internal import SDBus
internal import SecretModel
internal import SecureMemory

extension VaultCall {
  static let contextCalls = [openContext, respond, setApplicationPassword, closeContext, evaluate]

  static let openContext = VaultCall("OpenContext", takes: "a{sv}", gives: "ay") {
    (vault, call) async throws(VaultError) in
    let handle = try await vault.openContext(try ContextOptions(bus: call[0]), over: call.connection)
    return [handle.busValue]
  }
  static let respond = VaultCall("Respond", takes: "aysxah", endsWaiting: true) {
    (vault, call) async throws(VaultError) in
    let response = try ContextResponse(bus: call.values[1...])
    await (try vault.service).respond(try ContextHandle(bus: call[0]), response)
    return []
  }
  static let setApplicationPassword = VaultCall("SetApplicationPassword", takes: "ayah") {
    (vault, call) async throws(VaultError) in
    let handle = try ContextHandle(bus: call[0])
    let password = try SecretBytes.optional(sealed: call[1], limit: NewItem.secretLimit)
    await (try vault.service).setApplicationPassword(password, of: handle)
    vault.keep(call.memory, forPasswordOf: handle)
    return []
  }
  static let closeContext = VaultCall("CloseContext", takes: "ays", endsWaiting: true) {
    (vault, call) async throws(VaultError) in
    let handle = try ContextHandle(bus: call[0])
    await (try vault.service).closeContext(handle, reason: try ContextEnd(bus: call[1]))
    vault.contextIsClosed(handle)
    return []
  }
  static let evaluate = VaultCall("Evaluate", takes: "a{sv}a{sv}", gives: "ay") {
    (vault, call) async throws(VaultError) in
    let state = try await vault.service.evaluate(try Proof(bus: call[0]), try Asking(bus: call[1]))
    return [.bytes(state ?? [])]
  }
}
