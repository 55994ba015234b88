internal import Primitives
internal import SecretModel
internal import Settings
internal import Synchronization
internal import Whorl

/// How the library of settings looks at the store that the window shows.
nonisolated final class WindowSettings: SettingsContext {
  let configuration: Configuration
  let named: NamedStore
  private let store: SecretStore
  /// Whether the window goes on with the store.
  private let isShown: Bool
  /// For requests that need no store.
  private let connection = Mutex<(any VaultConnection)?>(nil)

  private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameter shown: the store that the window has open. Without it these settings open the store once more, and ``close()``
  ///   closes that.
  init(_ place: ShownStore.Place, _ shown: SecretStore? = nil) throws(Failure) {
    do throws(ConfigurationError) {
      configuration = try Configuration.load(from: place.configuration)
    } catch {
      throw Failure(.configuration, "\(error.path): \(error.problem)", advice: Text.of("correct the file"))
    }
    named = NamedStore(
      configuration: place.configuration, directory: place.directory, reader: place.reader.flatMap(ReaderSelection.init)
    )
    isShown = shown != nil
    if let shown {
      store = shown
      return
    }
    do throws(VaultError) {
      store = try SecretStore.open(at: place.directory, reader: place.reader, configuration: place.configuration)
    } catch {
      throw Failure(error)
    }
  }

  nonisolated(nonsending) func openStore() async throws(Failure) -> SecretStore { store }

  nonisolated(nonsending) func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection {
    if let made = connection.withLock({ $0 }) { return made }
    do throws(VaultError) {
      let made = try await VaultConnector.connect(to: place, configuration)
      connection.withLock { $0 = made }
      return made
    } catch {
      throw Failure(error)
    }
  }

  nonisolated(nonsending) func close() async {
    let made = connection.withLock { connection in
      defer { connection = nil }
      return connection
    }
    await made?.close()
    if !isShown { await store.close() }
  }

  // The program ends by closing its window, and its helpers end with it.
  func atInterruption(_ action: (@Sendable () -> Void)?) { interruption.withLock { $0 = action } }

  /// Ends what the person can end meanwhile, such as an enrolment.
  func interrupt() { interruption.withLock { $0 }?() }
}
