internal import Glibc
internal import Primitives
package import SecretModel
internal import Synchronization

/// The open store of a `SecretStore` and its contexts. It is opened at the first call, and again at the next call after
/// the connection to the vault was lost, unless it was given open.
package final class StoreLink: Sendable {
  /// An open store and its connection.
  private struct Opened: Sendable {
    let service: any VaultService
    let connection: any VaultConnection
    /// The process that opened it. A connection is not shared with a forked child.
    let process = getpid()
  }

  private struct Opening: Sendable {
    let number: Int
    let result: Task<Result<Opened, VaultError>, Never>
  }

  private struct State {
    var opening: Opening?
    var lastNumber = 0
  }

  /// How the store is opened.
  private enum Source: Sendable {
    /// By the program, which also closes it.
    case given(any VaultService)
    case opening(@Sendable () async throws(VaultError) -> Opened)
  }

  private let source: Source
  private let state = Mutex(State())

  /// A link to a store that is open already. It is not opened again.
  package init(to service: any VaultService) { source = .given(service) }

  /// A link to the store at a place. `connect` makes each connection to the vault.
  package init(
    to place: StorePlace, _ connect: @escaping @Sendable () async throws(VaultError) -> any VaultConnection
  ) {
    source = .opening { () async throws(VaultError) in
      let connection = try await connect()
      do throws(VaultError) {
        return Opened(service: try await connection.open(place), connection: connection)
      } catch {
        await connection.close()
        throw error
      }
    }
  }

  deinit {
    guard let opening = state.withLock({ $0.opening }) else { return }
    Task(executorPreference: BackgroundThread.shared) {
      if case .success(let opened) = await opening.result.value { await opened.connection.close() }
    }
  }

  /// Runs a call that belongs to no context. If the connection is lost before the call or during one that changes
  /// nothing, opens the store again and repeats the call: `serviceUnavailable`, `serviceStopped` and `systemCancelled` mean that
  /// nothing was changed, and a call without a context does not wait for a person.
  package func call<Value: ~Copyable, Problem: RequestFailure>(
    _ body: VaultRequest<Value, Problem>
  ) async throws(Problem) -> Value {
    switch source {
    case .given(let service): return try await body(service)
    case .opening(let open):
      let (store, number) = try await Problem.of { () async throws(VaultError) in try await opened(open) }
      do throws(Problem) {
        return try await body(store.service)
      } catch {
        switch error.cause {
        case .serviceUnavailable?, .serviceStopped?, .systemCancelled?: forget(number)
        default: throw error
        }
      }
      let again = try await Problem.of { () async throws(VaultError) in try await opened(open).store }
      return try await body(again.service)
    }
  }

  private func opened(_ open: @escaping @Sendable () async throws(VaultError) -> Opened) async throws(VaultError) -> (
    store: Opened, number: Int
  ) {
    let opening = state.withLock { state in
      if let opening = state.opening { return opening }
      state.lastNumber += 1
      let opening = Opening(
        number: state.lastNumber,
        result: Task(executorPreference: BackgroundThread()) {
          do throws(VaultError) {
            return .success(try await open())
          } catch {
            return .failure(error)
          }
        })
      state.opening = opening
      return opening
    }
    switch await opening.result.value {
    case .success(let opened) where opened.process == getpid(): return (opened, opening.number)
    case .success:
      forget(opening.number)
      return try await self.opened(open)
    case .failure(let error):
      // The store may exist at the next call.
      forget(opening.number)
      throw error
    }
  }

  /// Ends the connection to the vault, and waits until a private vault has ended. The next call opens the store again.
  package func close() async {
    let opening = state.withLock { state in
      defer { state.opening = nil }
      return state.opening
    }
    if case .success(let opened)? = await opening?.result.value { await opened.connection.close() }
  }

  private func forget(_ number: Int) {
    state.withLock { state in
      if state.opening?.number == number { state.opening = nil }
    }
  }
}

/// Tells the program's listeners that a person may be able to authenticate in another way than before. One call of the vault
/// waits for all of them, and none while nobody listens.
package final class StoreChanges: Sendable {
  /// Its listener is called until this is released.
  package final class Listening: Sendable {
    private let changes: StoreChanges
    private let number: Int

    fileprivate init(_ changes: StoreChanges, _ number: Int) {
      self.changes = changes
      self.number = number
    }

    deinit { changes.end(number) }
  }

  private struct State {
    var listeners: [Int: @Sendable () async -> Void] = [:]
    var lastNumber = 0
    var waiting: Task<Void, Never>?
  }

  private let link: StoreLink
  private let state = Mutex(State())

  init(of link: StoreLink) { self.link = link }

  /// Whether a call of the vault waits.
  package var isWaiting: Bool { state.withLock { $0.waiting != nil } }

  /// Calls `heard` after each change, and once when the vault can no longer be asked.
  package func listen(_ heard: @escaping @Sendable () async -> Void) -> Listening {
    let number = state.withLock { state in
      state.lastNumber += 1
      state.listeners[state.lastNumber] = heard
      return state.lastNumber
    }
    resume()
    return Listening(self, number)
  }

  private func end(_ number: Int) {
    state.withLock { state in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return }
      state.waiting?.cancel()
      state.waiting = nil
    }
  }

  private func resume() {
    state.withLock { state in
      guard state.waiting == nil, !state.listeners.isEmpty else { return }
      state.waiting = Task(executorPreference: BackgroundThread.shared) { await self.wait() }
    }
  }

  private func wait() async {
    var known: Surroundings?
    while !Task.isCancelled {
      do throws(VaultError) {
        known = try await link.call { service throws(VaultError) in try await service.surroundings(otherThan: known) }
      } catch {
        break
      }
      await tell()
    }
    // Whoever cancelled it may have started another one.
    guard !Task.isCancelled else { return }
    state.withLock { $0.waiting = nil }
    await tell()
  }

  private func tell() async {
    for heard in state.withLock({ Array($0.listeners.values) }) { await heard() }
  }
}
