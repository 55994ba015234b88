// Settings: what is set up on this computer, what can be done, what it changes, and how it is taken back; what
// works and what does not, with the remedy. It says so in values, whose sentences a terminal and a window both show. It
// prints nothing, and asks only through the program. Where to begin:
//
// - `Finding`: what was found about one thing, for `Checkup`, `SetupSurvey` and `LoginSurvey`.
// - `Checkup` checks everything (`whorl doctor`); `SetupSurvey` finds what is set up, and offers the rest (`whorl setup`).
// - `SetupUndo` takes back what is set up, in the order of `UndoPlan`, and `StoreRemoval` removes the store.
// - `KeyringChange`, `KWalletChange`, `LoginPasscodeChange`, `SecretServiceTakeover` and their neighbours: what a person
//   changes. They ask through a `ChangeDialogue`, and tell it each step as a `ChangeProgress`.
// - `Desktop/`: the files, units and settings by which the desktop gets ssh, the Secret Service, passkeys and sync.
// - `Wallets/`: what is delivered at login, to GNOME Keyring, KWallet, files and commands; the PAM stacks that do it.
// - `SettingsContext`: what a program gives so that these can look. `Failure`: what went wrong, and what to do.

internal import Moving
package import Primitives
package import SecretModel
package import Whorl

/// A program that looks at the settings of a store, and keeps the store open from one look to the next.
package protocol SettingsContext: Sendable {
  var configuration: Configuration { get }
  /// What the person has named in place of the usual.
  var named: NamedStore { get }

  /// The store, opened at its first use.
  func openStore() async throws(Failure) -> SecretStore
  /// The connection to the vault, opened at its first use.
  func connect(to place: StorePlace) async throws(Failure) -> any VaultConnection
  /// Ends the connection to the vault and waits until a private vault has ended.
  func close() async

  /// Told what to do if the person ends the program from now on; nil: nothing any more.
  func atInterruption(_ action: (@Sendable () -> Void)?)
}

/// The store and the reader that a person has named, as they were written.
package struct NamedStore: Sendable {
  package var configuration: String?
  package var directory: String?
  package var reader: ReaderSelection?

  package init(configuration: String? = nil, directory: String? = nil, reader: ReaderSelection? = nil) {
    (self.configuration, self.directory, self.reader) = (configuration, directory, reader)
  }

  /// A command of `whorl` for the same store and reader.
  package func command(_ words: [String]) -> [String] {
    let given = [("--config", configuration), ("--store", directory), ("--reader", reader?.description)]
    return ["whorl"] + words + given.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }
}

extension SettingsContext {
  package var selection: ReaderSelection { named.reader ?? configuration.reader ?? .automatic }

  package var ownReaders: OwnReaders { OwnReaders(selection: selection, configuration: configuration) }

  /// The place of the store, and its reader.
  package func place() throws(Failure) -> StorePlace {
    do throws(VaultError) {
      return try vaultPlace()
    } catch {
      guard case .configuration(let problem) = error else { throw Failure(error) }
      throw Failure(.configuration, problem, advice: "name the store's directory with --store")
    }
  }

  package func vaultPlace() throws(VaultError) -> StorePlace {
    try StorePlace(directory: named.directory, reader: named.reader, configuration)
  }

  /// Whether the store is the user's store in the service, whatever the reader option.
  package var isStoreOfService: Bool {
    get throws(Failure) {
      do throws(VaultError) {
        return try StorePlace(directory: named.directory, reader: nil, configuration) == .own
      } catch {
        throw Failure(error)
      }
    }
  }

  /// Whether the store is the user's store in the service; false also where its place cannot be told.
  var isOwn: Bool { if case .own? = try? vaultPlace() { true } else { false } }

  /// Makes a request to the store that asks nobody.
  package func request<Answer>(_ request: VaultRequest<Answer, any Error>) async throws(Failure) -> Answer {
    try await openStore().call { vault throws(Failure) in
      do { return try await request(vault) } catch { throw explained(error) }
    }
  }

  /// The store; nil if the user has none.
  package func openStoreIfThere() async throws(Failure) -> SecretStore? {
    do throws(Failure) {
      return try await openStore()
    } catch {
      if case .storeNotFound? = error.cause { return nil }
      throw error
    }
  }

  /// Makes calls to a private vault, for what needs no store, wherever the store is.
  package func withPrivateVault<Answer>(
    _ body: (any VaultConnection) async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let connection = try await explained { () async throws(VaultError) in
      try VaultConnector.connectPrivately(configuration)
    }
    let answer: Result<Answer, Failure>
    do throws(Failure) { answer = .success(try await body(connection)) } catch { answer = .failure(error) }
    await connection.close()
    return try answer.get()
  }

  /// The paths of the user's keyring.
  package func keyringPlaces() throws(Failure) -> KeyringPlaces {
    guard let data = BaseDirectories.data else { throw .noHome }
    return KeyringPlaces(data: data, runtime: BaseDirectories.runtime)
  }

  /// The paths of the user's wallet of KWallet.
  package func kwalletPlaces() throws(Failure) -> KWalletPlaces {
    guard let data = BaseDirectories.data else { throw .noHome }
    return KWalletPlaces(data: data, runtime: BaseDirectories.runtime)
  }

  /// The failure for an error. A missing named reader is reported differently from no reader.
  package func explained(_ error: any Error) -> Failure {
    switch error {
    case let failure as Failure: return failure
    case let error as VaultError:
      if error == .reader(.absent), let device = selection.device {
        return Failure(
          .notFound, "no reader \(device)", name: "LAError.biometryNotAvailable",
          advice: "'whorl reader list' lists what there is")
      }
      return Failure(error)
    case let error as WalletError: return Failure(error)
    case let error as ImportError: return Failure(error)
    case let error as ReaderError: return explained(VaultError.reader(error))
    case is CancellationError: return .cancelled
    default:
      return .defect(error)
    }
  }

  /// Runs a call to the vault that shows no prompt.
  package func explained<Answer>(_ call: () async throws(VaultError) -> Answer) async throws(Failure) -> Answer {
    do { return try await call() } catch { throw explained(error as any Error) }
  }
}
