internal import Glibc
internal import Primitives
internal import Processes
internal import ReaderBus
internal import SDBus
internal import Synchronization

/// The connection to one reader process, from start to end.
final class ReaderSession: Sendable {
  private let connection: BusConnection
  /// The process, if this program has started it. A system unit ends by itself when the connection ends.
  private let child: ChildProcess?
  /// The message for the end of a process that is not a child.
  private let ownEnd: String
  private let progress: ReaderProgress

  /// Starts the process. Call it on the bus loop, whose thread never ends.
  ///
  /// - Parameter buses: the sockets of message buses that the process may ask for.
  init(_ command: ReaderCommand, buses: BusSockets, showsDiagnostics: Bool) throws(ReaderError) {
    var pair: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      throw .cannotStart(String(cString: strerror(errno)))
    }
    defer { close(pair[1]) }
    let (child, entry): (ChildProcess, Unfinished.Entry)
    do throws(ChildStartError) {
      // The reader's process ends with its parent. That may be a program of umockdev, which ends with the reader's.
      (child, entry) = try Unfinished.ofThisProgram.start { () throws(ChildStartError) in
        try ChildProcess(
          command.program, arguments: command.arguments, environment: command.environment, standardInput: pair[1],
          showsDiagnostics: showsDiagnostics)
      }
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
            Self.reap(child, entry, grace: .seconds(1))
          }))
    } catch {
      Self.reap(child, entry, grace: .zero)
      throw .cannotStart("no connection to the reader process")
    }
    self.child = child
    self.progress = progress
    ownEnd = "it ended"
  }

  private static func reap(_ child: ChildProcess, _ entry: Unfinished.Entry, grace: Duration) {
    let ending = child.end(grace: grace)
    Task(executorPreference: BackgroundThread.shared) {
      _ = await ending.value
      Unfinished.ofThisProgram.forget(entry)
    }
  }

  /// Takes a connected socket of a process that this program has not started. Call it on the bus loop.
  ///
  /// - Parameters:
  ///   - socket: owned by this object from now on, even if this throws.
  ///   - name: the name of the peer.
  ///   - end: the message for its end.
  init(_ socket: Int32, called name: String, end: String) throws(ReaderError) {
    let progress = ReaderProgress()
    let connection: BusConnection
    do throws(BusError) {
      connection = try BusConnection(
        socket: socket, role: .client,
        handlers: .init(signal: { progress.deliver($0) }, closed: { progress.end() }))
    } catch {
      throw .cannotStart("no connection to \(name)")
    }
    self.connection = connection
    self.progress = progress
    child = nil
    ownEnd = end
  }

  /// Whether the connection has ended, so that calls fail.
  var isOver: Bool { progress.isOver }

  /// Whether the process has answered a call, so that it is known to have started.
  var hasAnswered: Bool { progress.hasAnswered }

  /// Runs on the caller's executor, so that calls are sent in the order in which they were made.
  ///
  /// - Parameter limit: how long to wait for the answer; nil: until the task is cancelled.
  /// - Throws: `system(ETIMEDOUT)` if no answer came in time.
  nonisolated(nonsending) func call(
    _ request: ReaderRequest, number: UInt64, observer: ScanObserver?, within limit: Duration? = nil
  ) async throws(BusError) -> [BusValue] {
    if let observer { progress.begin(number, observer) }
    let (member, arguments) = (request.method.rawValue, request.arguments(call: number))
    do throws(BusError) {
      let values =
        if let limit {
          try await connection.call(ReaderInterface.target, member, arguments, within: limit)
        } else {
          try await connection.call(ReaderInterface.target, member, arguments)
        }
      progress.finish(number, observed: observer != nil)
      return values
    } catch {
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
    connection.close()
    return task ?? Task(executorPreference: BackgroundThread.shared) { [ownEnd] in ownEnd }
  }
}

/// The observers that a session's signals go to, and whether the session has ended.
private final class ReaderProgress: Sendable {
  private struct State {
    /// The observers by the number of the call, so that a call that is refused during a scan does not take its events.
    var observers: [UInt64: ScanObserver] = [:]
    var hasAnswered = false
    /// The scan that was answered last. Its finger may be lifted after the answer.
    var finished: UInt64?
    var isOver = false
  }

  private let state = Mutex(State())

  var isOver: Bool { state.withLock { $0.isOver } }
  var hasAnswered: Bool { state.withLock { $0.hasAnswered } }

  func begin(_ number: UInt64, _ observer: @escaping ScanObserver) {
    state.withLock { $0.observers[number] = observer }
  }

  func finish(_ number: UInt64, observed: Bool) {
    state.withLock {
      $0.hasAnswered = true
      guard observed else { return }
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
