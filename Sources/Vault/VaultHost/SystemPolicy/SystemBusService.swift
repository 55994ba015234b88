internal import SDBus

/// Finds a service on the system bus, and finds it again after the service or the bus has ended.
actor SystemBusService {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  /// The limit for each step of finding the service, and for each of its answers. A machine under load takes more than
  /// two seconds (seen in a guest without KVM).
  static let limit = Duration.seconds(5)

  private let name: String
  private let bus: String
  private let users: Set<UInt32>?
  private let receiver: @Sendable (BusService.Event) -> Void
  private var found: BusService?
  private var finding: Task<Result<BusService, BusError>, Never>?

  /// - Parameters:
  ///   - bus: the address of the bus.
  ///   - users: as in ``BusService/find(_:on:ownedBy:within:receiver:)``.
  ///   - receiver: called with each event of the service, on the bus loop.
  init(
    _ name: String, on bus: String, ownedBy users: Set<UInt32>?,
    receiver: @escaping @Sendable (BusService.Event) -> Void = { _ in }
  ) {
    self.name = name
    self.bus = bus
    self.users = users
    self.receiver = receiver
  }

  deinit { found?.close() }

  /// The running service. Simultaneous callers share one search.
  func running() async throws(BusError) -> BusService {
    if let found { return found }
    let search = finding ?? Task(executorPreference: LoopTasks.shared) { await self.search() }
    finding = search
    return try await search.value.get()
  }

  private func search() async -> Result<BusService, BusError> {
    defer { finding = nil }
    do throws(BusError) {
      let service = try await BusService.find(
        name, on: try .connected(toBus: bus), ownedBy: users, within: Self.limit
      ) { [weak self] event in
        self?.assumeIsolated { $0.receive(event) }
      }
      found = service
      return .success(service)
    } catch {
      return .failure(error)
    }
  }

  private func receive(_ event: BusService.Event) {
    if case .over = event { found = nil }
    receiver(event)
  }
}
