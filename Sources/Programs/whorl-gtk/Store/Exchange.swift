internal import Processes
internal import SecretModel
internal import Settings
internal import SyncRepository
internal import Whorl

/// The local copy of the repository through which the computers exchange what they share: that of `whorl sync`.
enum Exchange {
  /// What an exchange has come to.
  enum Outcome: Sendable {
    case done(SyncStatus)
    /// The repository could not be reached, asked for a password, or did not take the changes.
    case notReached
    case failed(VaultError)
  }

  /// Fetches what the other computers have published, and publishes what they lack. Asks nobody.
  static func run(_ store: SecretStore, at place: ShownStore.Place) async -> Outcome {
    do throws(VaultError) {
      return try await VaultWork.run { () async throws(VaultError) in
        let folder = try Self.folder(of: place)
        return try await store.call { service throws(VaultError) in await run(service.sync, in: folder) }
      }
    } catch {
      return .failed(error)
    }
  }

  private nonisolated static func run(_ service: any SyncService, in folder: String) async -> Outcome {
    do throws(SyncRunError) {
      let git = try GitProgram(environment: OwnEnvironment.entries, mayAsk: false)
      let report = try await SyncRun(GitRepository(at: folder, git), service).run()
      // A repository that has lost what this computer has seen gets nothing.
      return report.isHeldBack ? .notReached : .done(report.status)
    } catch .vault(let error) {
      return .failed(error)
    } catch {
      return .notReached
    }
  }

  private nonisolated static func folder(of place: ShownStore.Place) throws(VaultError) -> String {
    let configuration: Configuration
    do throws(ConfigurationError) {
      configuration = try Configuration.load(from: place.configuration)
    } catch {
      throw .configuration("\(error.path): \(error.problem)")
    }
    guard let folder = try StorePlace(directory: place.directory, reader: nil, configuration).syncFolder else {
      throw .configuration("there is no home directory")
    }
    return folder
  }
}
