internal import Executors
internal import Fingerprint
internal import Glibc
internal import Processes
internal import ReaderBus
internal import SDBus
internal import Synchronization

/// The connection to one reader process, from start to end.
final class ReaderSession: Sendable {
  private let connection: BusConnection
  /// The process, if this program has started it. One of the system ends by itself when the connection does.
  private let child: ChildProcess?
  private let progress: ReaderProgress
  /// Ends the connection to a process that does not begin to answer.
  private let deadline: LoopTimer?

  /// Starts the process. Call it on the bus loop, whose thread never ends.
  ///
  /// - Parameter buses: the sockets of message buses that the process may ask for.
  init(_ command: ReaderCommand, buses: BusSockets, showsDiagnostics: Bool) throws(ReaderError) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw .cannotStart(String(cString: strerror(errno)))
    }
    defer { close(pair[1]) }
    let child: ChildProcess
    do throws(ChildStartError) {
      child = try ChildProcess(
        command.program, arguments: command.arguments, environment: command.environment, standardInput: pair[1],
        showsDiagnostics: showsDiagnostics)
    } catch {
      close(pair[0])
      throw .cannotStart("\(command.arguments[0]): \(error.words)")
    }
    let progress = ReaderProgress()
    do throws(BusError) {
      connection = try BusConnection(
        socket: pair[0], role: .client,
        handlers: .init(
          call: { buses.answer($0) },
          signal: { progress.deliver($0) },
          closed: {
            progress.end()
            // Reap the process, whichever side closed the connection.
            _ = child.end(grace: .seconds(1))
          }))
    } catch {
      _ = child.end(grace: .zero)
      throw .cannotStart("no connection to the reader process")
    }
    self.child = child
    self.progress = progress
    deadline = nil
  }

  /// Connects to a unit of the system. Call it on the bus loop.
  ///
  /// - Parameter limit: how long systemd may take to start it, and it to give its first answer.
  init(_ unit: UnitPath, within limit: Duration) throws(ReaderError) {
    let progress = ReaderProgress()
    let connection: BusConnection
    let socket = try unit.connect()
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .client,
        handlers: .init(signal: { progress.deliver($0) }, closed: { progress.end() }))
    } catch {
      throw .cannotStart("no connection to \(unit.path)")
    }
    self.connection = connection
    self.progress = progress
    child = nil
    deadline = LoopTimer(after: limit) { connection.close() }
  }

  /// Whether the connection has ended, so that calls fail.
  var isOver: Bool { progress.isOver }

  /// Runs on the caller's executor, so that calls are sent in the order in which they were made.
  nonisolated(nonsending) func call(
    _ request: ReaderRequest, number: UInt64, observer: ScanObserver?
  ) async throws(BusError) -> [BusValue] {
    if let observer { progress.begin(number, observer) }
    do throws(BusError) {
      let values = try await connection.call(
        ReaderInterface.target, request.method.rawValue, request.arguments(call: number))
      deadline?.cancel()
      if observer != nil { progress.finish(number) }
      return values
    } catch {
      if case .remote = error { deadline?.cancel() }
      progress.forget(number)
      throw error
    }
  }

  /// The answer of the process. Nil if there is none within the limit. Waits even if the task is cancelled.
  func answers(_ request: ReaderRequest, number: UInt64, within limit: Duration) async -> Result<Void, BusError>? {
    let call = Task(executorPreference: BackgroundThread.shared) { () -> Result<Void, BusError>? in
      do throws(BusError) {
        _ = try await self.call(request, number: number, observer: nil)
        return .success(())
      } catch .cancelled {
        return nil
      } catch {
        return .failure(error)
      }
    }
    let timer = LoopTimer(after: limit) { call.cancel() }
    defer { timer.cancel() }
    return await call.value
  }

  /// Closes the connection, at which the process releases its reader and exits, and kills a child after `grace`.
  func end(grace: Duration) -> Task<String, Never> {
    let task = child?.end(grace: grace)
    deadline?.cancel()
    connection.close()
    return task ?? Task(executorPreference: BackgroundThread.shared) { "the unit ended" }
  }
}

/// The observers that a session's signals go to, and whether the session has ended.
private final class ReaderProgress: Sendable {
  private struct State {
    /// The observers by the number of the call, so that a call that is refused during a scan does not take its events.
    var observers: [UInt64: ScanObserver] = [:]
    /// The scan that was answered last. Its finger may be lifted after the answer.
    var finished: UInt64?
    var isOver = false
  }

  private let state = Mutex(State())

  var isOver: Bool { state.withLock { $0.isOver } }

  func begin(_ number: UInt64, _ observer: @escaping ScanObserver) {
    state.withLock { $0.observers[number] = observer }
  }

  func finish(_ number: UInt64) {
    state.withLock {
      if let previous = $0.finished { $0.observers[previous] = nil }
      $0.finished = number
    }
  }

  func forget(_ number: UInt64) {
    state.withLock { $0.observers[number] = nil }
  }

  func end() {
    state.withLock {
      $0.isOver = true
      $0.observers = [:]
    }
  }

  func deliver(_ signal: BusSignal) {
    guard signal.interface == ReaderInterface.target.interface, signal.member == ReaderInterface.scanSignal,
      let (number, event) = ScanEvent.reading(signal.arguments)
    else { return }
    let observer = state.withLock { $0.observers[number] }
    observer?(event)
  }
}
