// SecretService: the items of the store for programs that use libsecret. Begin with `SecretServiceServer`, which gives each
// call to the object that it is for (`ServiceCalls`, `CollectionCalls`, `ItemCalls`, `PropertyCalls`). `ItemRead` reads a
// secret, and `GatedReads` those that need a touch. `ItemKeeper` says how collections and items are kept in the vault.

internal import Glibc
internal import Primitives
internal import SDBus
internal import SecretModel
package import SessionPrompts
internal import Synchronization
internal import VaultBus
package import Whorl

/// Serves `org.freedesktop.secrets` on a message bus, with the items of a store.
package final class SecretServiceServer: Sendable {
  package struct Configuration: Sendable {
    /// The address of the session's bus.
    package var bus: String
    /// Opens the store.
    package var openStore: @Sendable () throws(VaultError) -> SecretStore
    /// Makes the prompt of a request.
    package var prompt: @Sendable (ClientProgram) -> any AuthenticationPrompt
    /// Writes a line for people.
    package var log: @Sendable (String) -> Void
    /// Called when the connection to the bus has ended.
    package var ended: @Sendable () -> Void

    package init(
      bus: String, openStore: @escaping @Sendable () throws(VaultError) -> SecretStore,
      prompt: @escaping @Sendable (ClientProgram) -> any AuthenticationPrompt,
      log: @escaping @Sendable (String) -> Void,
      ended: @escaping @Sendable () -> Void
    ) {
      (self.bus, self.openStore, self.prompt, self.log, self.ended) = (bus, openStore, prompt, log, ended)
    }
  }

  package enum Beginning: Sendable {
    case serving
    /// Another program has the name.
    case taken
    /// The bus cannot be reached; the value says why.
    case noBus(String)
  }

  /// A desktop session has a few dozen clients. A client that loses its place loses its sessions, so the limits are far
  /// above what programs use.
  private static let clientLimits = ClientPlaces<String>.Limits(process: 512, program: 1_024, all: 2_048)
  /// The most clients whose process is being looked up at a time.
  private static let unknownLimit = 1_024

  private let keeper: ItemKeeper
  private let desk: PromptDesk
  private let locks = Locks()
  private let vaultLock: VaultLockWatch
  private let lists: ItemLists
  private let waitingCalls = WaitingCalls()
  private let log: @Sendable (String) -> Void
  private struct Clients {
    var entries: [String: ClientEntry] = [:]
    /// Those whose process is being looked up.
    var unknown = 0
    var places = ClientPlaces<String>(SecretServiceServer.clientLimits)
  }

  private let clients = Mutex(Clients())

  /// A client. Its process is looked up in the background; then it gets a place or is refused.
  private final class ClientEntry: Sendable {
    let calls = CallTurns()
    let client: Task<Result<BusClient, ServiceError>, Never>

    init(_ client: Task<Result<BusClient, ServiceError>, Never>) { self.client = client }

    /// Ends the client's prompts and requests.
    func end() {
      Task(executorPreference: BackgroundThread.shared) {
        if case .success(let client) = await self.client.value { client.end() }
      }
    }
  }

  private init(_ configuration: Configuration) throws(VaultError) {
    keeper = ItemKeeper(try configuration.openStore())
    lists = ItemLists(of: keeper)
    vaultLock = VaultLockWatch(keeper, locks)
    desk = PromptDesk(
      onBus: configuration.bus, store: keeper.store, prompt: configuration.prompt, log: configuration.log)
    log = configuration.log
  }

  /// Takes the name on the bus, and serves for as long as the process runs.
  ///
  /// - Throws: the errors of opening the store.
  package static func begin(_ configuration: Configuration) async throws(VaultError) -> Beginning {
    let server = try SecretServiceServer(configuration)
    var limits = BusLimits()
    limits.secrets = SharedSecret.self
    // No call of the API has more than two.
    limits.secretArrays = 4
    // Each client has a lower limit, which is answered with an error.
    limits.openCalls = (clientLimits.all + unknownLimit) * (CallTurns.limit + 1) + WaitingCalls.limit
    let isServing = Flag()
    do throws(BusError) {
      let connection = try BusConnection(
        busAddress: configuration.bus, limits: limits,
        handlers: .init(
          call: { server.handle($0) }, signal: { server.handle($0) },
          closed: { if isServing.isSet { configuration.ended() } }))
      guard try await takeName(on: connection) else {
        connection.close()
        return .taken
      }
      do throws(ServiceError) {
        try await server.keeper.endSession()
      } catch {
        configuration.log("cannot remove the secrets of the last session: \(error.message)")
      }
      isServing.set()
      let (vaultLock, signals) = (server.vaultLock, ServiceSignals(connection: connection, lists: server.lists))
      Task(executorPreference: BackgroundThread.shared) { await vaultLock.follow(signals) }
      return .serving
    } catch {
      return .noBus(error.words)
    }
  }

  /// Takes the name unless another program owns it. Returns whether this program owns it now.
  private static func takeName(on connection: BusConnection) async throws(BusError) -> Bool {
    // Subscribe to every name that loses its owner.
    let disconnects = "type='signal',sender='\(MessageBus.name)',member='\(MessageBus.nameOwnerChanged)',arg2=''"
    _ = try await connection.call(MessageBus.target, "AddMatch", [.string(disconnects)])
    // Flag 4 (DBUS_NAME_FLAG_DO_NOT_QUEUE): do not wait for the name. Answer 1: this connection owns it now.
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string(ServiceName.bus), .uint32(4)])
    return answer.first?.asIdentifier(UInt32.self) == 1
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
  }

  // MARK: Clients

  private func handle(_ signal: BusSignal) {
    guard signal.sender == MessageBus.name, signal.member == MessageBus.nameOwnerChanged,
      let name = signal.arguments.first?.asString
    else { return }
    let entry = clients.withLock { clients in
      clients.places.leave(name)
      return clients.entries.removeValue(forKey: name)
    }
    entry?.end()
  }

  private func handle(_ call: BusCall) {
    guard let sender = call.sender else { return }
    let entry: ClientEntry? = clients.withLock { clients in
      if let known = clients.entries[sender] { return known }
      guard clients.unknown < Self.unknownLimit else { return nil }
      clients.unknown += 1
      let entry = ClientEntry(client(named: sender, on: call.connection))
      clients.entries[sender] = entry
      return entry
    }
    guard let entry, let place = entry.calls.place(for: call, among: waitingCalls) else {
      let error = ServiceError.limitsExceeded("too many calls are waiting")
      return call.fail(error.name, error.message)
    }
    // The bus loop calls this and also runs the task: no call blocks, and prompts have threads of their own.
    Task(executorPreference: LoopTasks.shared) {
      defer { withExtendedLifetime(place) {} }
      switch await entry.client.value {
      case .success(let client):
        let turn = await entry.calls.turn(for: call)
        defer { withExtendedLifetime(turn) {} }
        self.clients.withLock { $0.places.begin(sender) }
        await Principal.$program.withValue(client.words) { await self.answer(call, client) }
        self.clients.withLock { $0.places.end(sender) }
      case .failure(let error): call.fail(error.name, error.message)
      }
    }
  }

  private func client(
    named name: String, on connection: BusConnection
  ) -> Task<Result<BusClient, ServiceError>, Never> {
    Task(executorPreference: BackgroundThread.shared) { [desk, keeper] in
      let answer = try? await connection.call(
        MessageBus.target, "GetConnectionUnixProcessID", [.string(name)], within: .seconds(5))
      // No process has the number -1.
      let process = answer?.first?.asIdentifier(pid_t.self) ?? -1
      // Its executable may be on a file system that does not answer.
      let program = await BlockingCall.run { ClientProgram(process) }
      let (refusal, ended) = self.admit(name, program)
      ended?.end()
      if let refusal {
        self.log("\(program.words) is refused: \(refusal)")
        return .failure(.limitsExceeded(refusal))
      }
      return .success(BusClient(named: name, program, at: desk, in: keeper))
    }
  }

  /// Gives a client a place, possibly in exchange for another one's.
  ///
  /// - Returns: why it was refused, and the client that lost its place, which gets a new one at its next call.
  private func admit(_ name: String, _ program: ClientProgram) -> (refusal: String?, ended: ClientEntry?) {
    clients.withLock { clients in
      clients.unknown -= 1
      switch clients.places.admit(name, program) {
      case .admitted(let other):
        // It may have left the bus meanwhile.
        if clients.entries[name] == nil { clients.places.leave(name) }
        return (nil, other.flatMap { clients.entries.removeValue(forKey: $0) })
      case .refused(let why):
        clients.entries[name] = nil
        return (why, nil)
      }
    }
  }

  // MARK: Calls

  private func answer(_ call: BusCall, _ client: BusClient) async {
    do throws(ServiceError) {
      call.answer(try await values(call, client))
    } catch {
      call.fail(error.name, error.message)
    }
  }

  private func values(_ call: BusCall, _ client: BusClient) async throws(ServiceError) -> [BusValue] {
    let context = CallContext(
      keeper: keeper, desk: desk, locks: locks, vaultLock: vaultLock,
      signals: ServiceSignals(connection: call.connection, lists: lists), client: client,
      member: call.member, signature: call.signature, arguments: call.arguments)
    let path = ObjectPath(call.path)
    if call.interface == ServiceName.introspectable, call.member == "Introspect" {
      return [.string(try await ObjectTree(call: context).xml(ofPath: call.path))]
    }
    if call.path == ServiceName.portalPath || call.interface == ServiceName.portalRequest {
      return try await PortalCalls(context, call.interface, call.path).answer()
    }
    guard let path else {
      // A path that only leads to objects is there, and has no other call.
      _ = try await ObjectTree(call: context).xml(ofPath: call.path)
      throw context.unknown
    }
    if call.interface == ServiceName.properties { return try await PropertyCalls(call: context, path: path).answer() }
    // A call may leave out its interface.
    func isFor(_ interface: String) -> Bool { call.interface.isEmpty || call.interface == interface }
    switch path {
    case .service where isFor(ServiceName.service): return try await ServiceCalls(call: context).answer()
    case .collection where isFor(ServiceName.collection), .alias where isFor(ServiceName.collection):
      return try await CollectionCalls(call: context, collection: try await context.collection(at: path)).answer()
    case .item(let collection, let name) where isFor(ServiceName.item):
      return try await ItemCalls(call: context, collection: collection, name: name).answer()
    case .session(let name) where isFor(ServiceName.session):
      guard context.form == "Close()" else { throw context.unknown }
      try client.closeSession(name)
      return []
    case .prompt(let name) where isFor(ServiceName.prompt):
      let prompt = try client.prompt(name)
      switch context.form {
      case "Prompt(s)": prompt.show()
      case "Dismiss()": prompt.dismiss()
      default: throw context.unknown
      }
      return []
    default: throw context.unknown
    }
  }
}
