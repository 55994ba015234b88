internal import Primitives
internal import SDBus
internal import SecretModel

extension Calls {
  static let contexts = [
    openContext.call, respond.call, setApplicationPassword.call, closeContext.call, evaluate.call,
  ]

  static let openContext = Call(
    "OpenContext",
    ofMessage: { (vault: isolated Served, call: ReceivedCall, options: ContextOptions) async throws(VaultError) in
      try await vault.openContext(options, over: call.connection)
    })
  static let respond = Call(VaultInterface.respond, endsWaiting: true) {
    (vault: isolated Served, handle: ContextHandle, response: ResponseOnBus) async throws(VaultError) in
    await (try vault.service).respond(handle, try response.response())
  }
  static let setApplicationPassword = Call(
    "SetApplicationPassword",
    ofMessage: {
      (vault: isolated Served, call: ReceivedCall, handle: ContextHandle, password: [BusFile]) async throws(VaultError)
      in
      let password = try SecretBytes.optional(sealed: password)
      await (try vault.service).setApplicationPassword(password, of: handle)
      vault.keep(call.memory, forPasswordOf: handle)
      return Done()
    })
  static let closeContext = Call("CloseContext", endsWaiting: true) {
    (vault: isolated Served, handle: ContextHandle, reason: ContextEnd) async throws(VaultError) in
    await (try vault.service).closeContext(handle, reason: reason)
    vault.contextIsClosed(handle)
  }
  static let evaluate = Call("Evaluate") {
    (vault: isolated Served, proof: Proof, asking: Asking) async throws(VaultError) in
    try await vault.service.evaluate(proof, asking) ?? []
  }
}

extension RemoteVault {
  func openContext(_ options: ContextOptions) async throws(VaultError) -> (
    handle: ContextHandle, events: ContextEvents
  ) {
    let handle = try await wire(Calls.openContext, options)
    let (stream, continuation) = AsyncStream.makeStream(of: NumberedEvent.self)
    let source = EventSource(continuation)
    wire.contexts.add(handle, source)
    return (handle, ContextEvents(stream, source))
  }

  func respond(_ handle: ContextHandle, _ response: consuming ContextResponse) async {
    await wire.tell(Calls.respond, handle, ResponseOnBus(response))
  }

  func setApplicationPassword(_ password: consuming SecretBytes?, of handle: ContextHandle) async {
    guard let password = try? SecretBytes.sealed(password) else { return }
    await wire.tell(Calls.setApplicationPassword, handle, password)
  }

  func closeContext(_ handle: ContextHandle, reason: ContextEnd) async {
    await wire.tell(Calls.closeContext, handle, reason)
    wire.contexts.remove(handle)
  }

  func evaluate(_ proof: Proof, _ asking: Asking) async throws(VaultError) -> [UInt8]? {
    let state = try await wire(Calls.evaluate, proof, asking)
    return state.isEmpty ? nil : state
  }
}
