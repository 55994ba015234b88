internal import Executors
internal import Glibc
package import SecretModel
internal import Synchronization

/// The open store of a `SecretStore` and its contexts. It is opened at the first call, and again at the next call after
/// the connection to the vault was lost.
package final class StoreLink: Sendable {
  /// An open store and its connection.
  struct Opened: Sendable {
    let service: any VaultService
    /// Nil where the link was given an open service, which it does not close.
    let connection: (any VaultConnection)?
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

  private let open: @Sendable () async throws(VaultError) -> Opened
  private let state = Mutex(State())

  init(_ open: @escaping @Sendable () async throws(VaultError) -> Opened) { self.open = open }

  /// A link to a store that is open already and stays open.
  package convenience init(to service: any VaultService) {
    self.init { () throws(VaultError) in Opened(service: service, connection: nil) }
  }

  /// A link to the store at a place. `connect` makes each connection to the vault.
  package convenience init(
    to place: StorePlace, _ connect: @escaping @Sendable () async throws(VaultError) -> any VaultConnection
  ) {
    self.init { () async throws(VaultError) in
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
      if case .success(let opened) = await opening.result.value { await opened.connection?.close() }
    }
  }

  /// Runs a call that belongs to no context. If the connection is lost before the call or during one that changes
  /// nothing, opens the store again and repeats the call: `serviceUnavailable`, `serviceStopped` and `systemCancelled` mean that
  /// nothing was changed, and a call without a context does not wait for a person.
  package func call<Value: ~Copyable>(
    _ body: (any VaultService) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let (store, number) = try await opened()
    do throws(VaultError) {
      return try await body(store.service)
    } catch .serviceUnavailable, .serviceStopped, .systemCancelled {
      forget(number)
    }
    return try await body(try await opened().store.service)
  }

  private func opened() async throws(VaultError) -> (store: Opened, number: Int) {
    let opening = state.withLock { state in
      if let opening = state.opening { return opening }
      return open(&state)
    }
    switch await opening.result.value {
    case .success(let opened) where opened.process == getpid(): return (opened, opening.number)
    case .success:
      forget(opening.number)
      return try await self.opened()
    case .failure(let error):
      // The store may exist at the next call.
      forget(opening.number)
      throw error
    }
  }

  private func open(_ state: inout State) -> Opening {
    state.lastNumber += 1
    let opening = Opening(
      number: state.lastNumber,
      result: Task(executorPreference: BackgroundThread()) { [open] in
        do throws(VaultError) {
          return .success(try await open())
        } catch {
          return .failure(error)
        }
      })
    state.opening = opening
    return opening
  }

  private func forget(_ number: Int) {
    state.withLock { state in
      if state.opening?.number == number { state.opening = nil }
    }
  }
}
