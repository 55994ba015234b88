internal import Keys
internal import Primitives
internal import Prompts
internal import SDBus
internal import SecretModel
internal import SessionPrompts
internal import Whorl

/// The conversation with one client, from its first message to the end of its connection. It has its own connection to the
/// other agent, and each of its signatures its own context of the vault, so that no two clients share a session or a touch.
/// A client may stay connected for days, so it has no thread while it sends nothing.
final class AgentConversation {
  /// The longest wait for an answer of the other agent that needs no person.
  private static let upstreamLimit = Duration.seconds(3)

  private let socket: AgentSocket
  private let peer: ClientProgram
  private let signer: Signer
  private let configuration: AgentConfiguration
  /// Told when the answer to a message begins and ends.
  private let answers: @Sendable (Bool) -> Void
  private let store: AgentStore
  private var upstream: Upstream
  private var binds = SessionBinds()

  /// The conversation's connection to the other agent.
  private enum Upstream {
    /// Connects when the first message for the other agent arrives.
    case awaited(path: String)
    case connected(AgentSocket)
    /// There is no other agent, or its connection has ended. It is not connected again: a new connection would lack the
    /// session binds of the old one, and the other agent's keys may be restricted to certain sessions.
    case none
  }

  init(
    _ socket: AgentSocket, with peer: ClientProgram, _ signer: Signer, _ store: AgentStore,
    _ configuration: AgentConfiguration, answers: @escaping @Sendable (Bool) -> Void
  ) {
    (self.socket, self.peer, self.signer, self.store) = (socket, peer, signer, store)
    (self.configuration, self.answers) = (configuration, answers)
    upstream = configuration.upstream.map { .awaited(path: $0) } ?? .none
  }

  /// Answers the client's messages until the client disconnects.
  func run() async { await Principal.$program.withValue(peer.words) { await converse() } }

  private func converse() async {
    while let message = await socket.read() {
      answers(true)
      let answer = await answer(message)
      answers(false)
      guard await socket.write(answer) else { return }
    }
  }

  private func answer(_ message: SharedSecret) async -> [UInt8] {
    // A message for the other agent may hold a private key, so only its type is read here.
    let type = message.bytes.withUnsafeBytes { $0[0] }
    if type == AgentMessage.lock || type == AgentMessage.unlock {
      return await changeLock(message, isLocking: type == AgentMessage.lock)
    }
    // A locked agent still accepts session bindings, to know the hosts that it is forwarded to meanwhile.
    if signer.lock.isLocked, type != AgentMessage.extension {
      return type == AgentMessage.requestIdentities ? AgentAnswer.identities([]) : AgentAnswer.failure
    }
    guard [AgentMessage.requestIdentities, AgentMessage.signRequest, AgentMessage.extension].contains(type) else {
      return await handedOn(message)
    }
    guard let request = try? AgentRequest(message.bytes.withUnsafeBytes { Array($0) }) else {
      return AgentAnswer.failure
    }
    switch request {
    case .list: return await identities(message)
    case .sign(let request):
      if let signature = await signature(request) { return signature }
      return await handedOn(message)
    case .bind(let bind): return await take(bind, message)
    case .other: return await handedOn(message)
    }
  }

  /// Locks or unlocks the agent (`ssh-add -x` and `-X`). The lock is not forwarded: the other agent's keys are hidden
  /// here meanwhile. Refused for a host that the agent is forwarded to, which could otherwise lock the person out or
  /// guess the password.
  private func changeLock(_ message: SharedSecret, isLocking: Bool) async -> [UInt8] {
    guard !binds.mayBeForwarded else {
      signer.log(
        "\(peer.words) is refused to \(isLocking ? "lock" : "unlock") the agent: it was forwarded to another machine")
      return AgentAnswer.failure
    }
    let password: SharedSecret? = message.bytes.withUnsafeBytes { bytes in
      guard let fields = SSHFormat.strings(in: bytes, from: 1, count: 1) else { return nil }
      return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[fields[0]])))
    }
    let isChanged =
      if let password {
        await isLocking
          ? signer.lock.lock(with: password, by: peer.process) : signer.lock.unlock(with: password, by: peer.process)
      } else {
        false
      }
    guard isChanged else {
      signer.log("\(peer.words) is refused to \(isLocking ? "lock" : "unlock") the agent")
      return AgentAnswer.failure
    }
    if isLocking { signer.grants.forget() }
    signer.log("\(peer.words) has \(isLocking ? "locked" : "unlocked") the agent")
    return AgentAnswer.success
  }

  /// Whether a message adds a key. It may hold a private key, so only its type is read.
  private static func addsKey(_ message: SharedSecret) -> Bool {
    message.bytes.withUnsafeBytes { AgentMessage.additions.contains($0[0]) }
  }

  /// Reports why a request is refused, since the protocol cannot: in the log, and on the client's terminal. Not on the
  /// terminal if the agent is forwarded, since remote programs could fill it.
  private func tell(_ why: String) {
    signer.log("\(peer.words) is refused: \(why)")
    if !binds.mayBeForwarded { ClientTerminal(of: peer.process)?.write(why) }
  }

  /// The connection to the other agent, opened for the first message; nil if there is none.
  private func otherAgent() -> AgentSocket? {
    if case .awaited(let path) = upstream {
      upstream = AgentSocket(connectingTo: path, within: Self.upstreamLimit).map { .connected($0) } ?? .none
    }
    guard case .connected(let connection) = upstream else { return nil }
    return connection
  }

  /// Forwards a message that a locked agent refuses, and returns the other agent's answer, or a failure if the agent is
  /// locked first. The other agent may ask the person, so the wait has no limit: it ends, with the connection to the
  /// other agent, when this agent is locked or the client disconnects.
  private func handedOn(_ message: SharedSecret) async -> [UInt8] {
    if Self.addsKey(message), otherAgent() == nil {
      // ssh-add itself only prints "agent refused operation".
      tell("Whorl keeps no keys that ssh-add adds. 'whorl ssh add NAME --import FILE' brings a key into it.")
    }
    guard !signer.lock.isLocked, let connection = otherAgent(),
      let number = signer.lock.begin({ connection.end() })
    else { return AgentAnswer.failure }
    let answer = await answer(of: connection, to: message)
    guard signer.lock.end(number) else { return AgentAnswer.failure }
    return answer
  }

  /// Forwards a message even if the agent is locked, and returns the other agent's answer, or a failure if there is
  /// none in time.
  private func handedOnAtOnce(_ message: SharedSecret) async -> [UInt8] {
    guard let connection = otherAgent() else { return AgentAnswer.failure }
    return await answer(of: connection, to: message, within: Self.upstreamLimit)
  }

  private func answer(
    of connection: AgentSocket, to message: SharedSecret, within limit: Duration? = nil
  ) async -> [UInt8] {
    let watch = HangupWatch(socket) { connection.end() }
    let timer = limit.map { LoopTimer(after: $0) { connection.end() } }
    defer {
      watch.end()
      timer?.cancel()
    }
    guard let answer = await connection.exchange(message) else {
      upstream = .none
      signer.log("the other agent does not answer \(peer.words)")
      return AgentAnswer.failure
    }
    return answer
  }

  private func identities(_ message: SharedSecret) async -> [UInt8] {
    let own = await keys().flatMap { key in
      [key.publicKey, key.certificate].compactMap { $0 }.map { (key: $0, comment: Array(key.name.utf8)) }
    }
    let theirs = AgentAnswer.keys(in: await handedOnAtOnce(message))
    let others = theirs.filter { other in !own.contains { $0.key == other.key } }
    // It may have been locked during the wait for the vault and for the other agent.
    guard !signer.lock.isLocked else { return AgentAnswer.identities([]) }
    return AgentAnswer.identities(own + others)
  }

  private func take(_ bind: SessionBind, _ message: SharedSecret) async -> [UInt8] {
    // The other agent checks the bind itself, for its own keys.
    _ = await handedOnAtOnce(message)
    do throws(SessionBinds.Refusal) {
      try binds.add(bind)
    } catch {
      signer.log("\(peer.words) sent a session binding that was refused: \(error)")
      return AgentAnswer.failure
    }
    return AgentAnswer.success
  }

  /// The keys that may be used. Deletes keys whose lifetime is over.
  private func keys() async -> [SSHKey] {
    do throws(VaultError) {
      let use = try store.use()
      let store = use.store
      let keys = try await store.items(SSHKey.search()).compactMap(SSHKey.init)
      let now = Double(SystemClock.calendar.nanoseconds) / 1e9
      let ended = keys.filter { $0.hasEnded(at: now) }
      if !ended.isEmpty {
        try await store.delete(ended.map(\.id))
        for key in ended { signer.log("the SSH key \(Visible.text(key.name)) is removed: its lifetime is over") }
      }
      return keys.filter { !$0.hasEnded(at: now) }
    } catch {
      signer.log("the keys of the store cannot be listed: \(error.explanation.what)")
      return []
    }
  }

  /// Nil for a key that is not in the vault.
  private func signature(_ request: SignatureRequest) async -> [UInt8]? {
    // The key itself, or the key in a certificate, which the purpose checks.
    guard let publicKey = try? PublicKey(ssh: request.key).ssh,
      let key = await keys().first(where: { $0.publicKey == publicKey }), let use = try? store.use()
    else { return nil }
    // The store stays open until the signature is made.
    defer { withExtendedLifetime(use) {} }
    let purpose: SignaturePurpose
    do throws(SignaturePurpose.Refusal) {
      purpose = try SignaturePurpose(of: request, binds)
    } catch {
      tell("no signature with the SSH key \(PromptLabel.word(key.name)): \(error)")
      return AgentAnswer.failure
    }
    guard signer.allows(purpose, with: key) else {
      tell(
        "no signature with the SSH key \(PromptLabel.word(key.name)): the key is restricted to hosts ('whorl ssh list')"
      )
      return AgentAnswer.failure
    }
    let (signer, peer, store) = (signer, peer, use.store)
    let signing = Task(executorPreference: BackgroundThread()) {
      await signer.signature(request, for: purpose, with: key, of: store, to: peer)
    }
    // Cancel the request if the client disconnects.
    let watch = HangupWatch(socket) { signing.cancel() }
    defer { watch.end() }
    guard let number = signer.lock.begin({ signing.cancel() }) else {
      signing.cancel()
      return AgentAnswer.failure
    }
    let signature = await signing.value
    guard signer.lock.end(number) else {
      // This signature's touch may have been stored after the other grants were removed.
      signer.grants.forget()
      return AgentAnswer.failure
    }
    guard let signature else { return AgentAnswer.failure }
    return AgentAnswer.signature(signature)
  }
}
