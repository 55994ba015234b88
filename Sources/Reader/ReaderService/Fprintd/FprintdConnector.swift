internal import Fingerprint
internal import ReaderBus
internal import SDBus

/// The connection of a reader to fprintd: made when it is needed, and again after it has ended.
actor FprintdConnector {
  nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let place: FprintdPlace
  private let sockets: any BusSocketSource
  private let receiver: FprintdConnection.Receiver
  /// The last connection that was made; nil if this process has closed it.
  private(set) var link: FprintdConnection?
  /// The connection that is being made, for all calls that need one.
  private var connecting: Task<Result<FprintdConnection, ReaderError>, Never>?
  /// The number of connections made so far.
  private var connections = 0

  /// - Parameter receiver: called with each event of the current connection, on the bus loop.
  init(
    _ place: FprintdPlace, through sockets: any BusSocketSource, receiver: @escaping FprintdConnection.Receiver
  ) {
    self.place = place
    self.sockets = sockets
    self.receiver = receiver
  }

  /// The connection, made if there is none.
  ///
  /// - Parameter isOpen: whether a reader is open. If fprintd has ended since, this throws `processDied`. If this
  ///   process closed the connection itself, nothing was claimed over it, and another is made.
  func connected(isOpen: Bool) async throws(ReaderError) -> FprintdConnection {
    if let link, await !link.isOver { return link }
    guard !isOpen || link == nil else { throw .processDied(FprintdConnection.ended) }
    let task = connecting ?? Task(executorPreference: LoopTasks.shared) { await self.connect() }
    connecting = task
    return try await task.value.get()
  }

  private func connect() async -> Result<FprintdConnection, ReaderError> {
    defer { connecting = nil }
    connections += 1
    let number = connections
    do throws(ReaderError) {
      let fresh = try await FprintdConnection(place, through: sockets) { event in
        self.assumeIsolated { connector in
          // Ignore the end of an earlier connection.
          if number == connector.connections { connector.receiver(event) }
        }
      }
      link = fresh
      return .success(fresh)
    } catch {
      return .failure(error)
    }
  }

  /// Closes the connection, if there is one. fprintd then releases what was claimed over it.
  func drop() async {
    guard let closing = link else { return }
    link = nil
    // Ignore its end.
    if connecting == nil { connections += 1 }
    await closing.close()
  }
}
