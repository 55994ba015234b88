internal import Executors
internal import Glibc
internal import SDBus
internal import SecretModel
internal import SecureMemory
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

  /// The most clients at a time. A desktop session has a few dozen.
  private static let clientLimit = 1_024

  private let keeper: ItemKeeper
  private let desk: PromptDesk
  private let locks = Locks()
  private let vaultLock: VaultLockWatch
  private let lists: ItemLists
  private let log: @Sendable (String) -> Void
  private let clients = Mutex<[String: ClientEntry]>([:])

  /// A client. The bus is asked for its process in the background.
  private final class ClientEntry: Sendable {
    let calls = Atomic<Int>(0)
    let client: Task<BusClient, Never>

    init(_ client: Task<BusClient, Never>) { self.client = client }
  }

  private init(_ configuration: Configuration) throws(VaultError) {
    keeper = ItemKeeper(try configuration.openStore())
    lists = ItemLists(of: keeper)
    vaultLock = VaultLockWatch(keeper, locks)
    desk = PromptDesk(
      onBus: configuration.bus, openStore: configuration.openStore, prompt: configuration.prompt,
      log: configuration.log)
    log = configuration.log
  }

  /// Takes the name on the bus, and serves for as long as the process runs.
  ///
  /// - Throws: the errors of opening the store.
  package static func begin(_ configuration: Configuration) async throws(VaultError) -> Beginning {
    let server = try SecretServiceServer(configuration)
    var limits = BusConnection.Limits()
    limits.secrets = SharedSecret.self
    // No call has more than two; others are not read.
    limits.secretArrays = 4
    // Each client has a lower limit of its own, whose error is sent as an answer.
    limits.openCalls = clientLimit * (BusClient.limit + 1)
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
      return .noBus("\(error)")
    }
  }

  /// Whether this program owns the name now. If another program owns it, that one keeps it.
  private static func takeName(on connection: BusConnection) async throws(BusError) -> Bool {
    // Subscribe to every name that loses its owner.
    let disconnects = "type='signal',sender='\(MessageBus.name)',member='\(MessageBus.nameOwnerChanged)',arg2=''"
    _ = try await connection.call(MessageBus.target, "AddMatch", [.string(disconnects)])
    // Flag 4 (DBUS_NAME_FLAG_DO_NOT_QUEUE): do not wait for the name. Answer 1: this connection owns it now.
    let answer = try await connection.call(
      MessageBus.target, "RequestName", [.string(ServiceName.bus), .uint32(4)])
    return answer.first?.asUInt32 == 1
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
    guard let entry = clients.withLock({ $0.removeValue(forKey: name) }) else { return }
    Task(executorPreference: BackgroundThread.shared) { await entry.client.value.end() }
  }

  private func handle(_ call: BusCall) {
    guard let sender = call.sender else { return }
    let entry: ClientEntry? = clients.withLock { clients in
      if let known = clients[sender] { return known }
      guard clients.count < Self.clientLimit else { return nil }
      let entry = ClientEntry(client(named: sender, on: call.connection))
      clients[sender] = entry
      return entry
    }
    guard let entry, entry.calls.add(1, ordering: .relaxed).newValue <= BusClient.limit else {
      entry?.calls.subtract(1, ordering: .relaxed)
      let error = ServiceError.limitsExceeded("too many calls are waiting")
      return call.fail(error.name, error.message)
    }
    // The bus loop calls this and also runs the task: no call blocks, and prompts have threads of their own.
    Task(executorPreference: LoopTasks.shared) {
      await self.answer(call, await entry.client.value)
      entry.calls.subtract(1, ordering: .relaxed)
    }
  }

  private func client(named name: String, on connection: BusConnection) -> Task<BusClient, Never> {
    Task(executorPreference: BackgroundThread.shared) { [desk, keeper] in
      let answer = try? await connection.call(
        MessageBus.target, "GetConnectionUnixProcessID", [.string(name)], within: .seconds(5))
      // No process has the number -1.
      let process = answer?.first?.asUInt32.map { pid_t(bitPattern: $0) } ?? -1
      return BusClient(named: name, ClientProgram(process), at: desk, in: keeper)
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
      guard let xml = Introspection.xml(ofPath: call.path) else { throw .noSuchObject }
      return [.string(xml)]
    }
    if call.path == ServiceName.portalPath || call.interface == ServiceName.portalRequest {
      return try await PortalCalls(context, call.interface, call.path).answer()
    }
    guard let path else { throw .noSuchObject }
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
