internal import Moving
internal import Primitives
internal import Processes
internal import SecretModel
internal import Settings
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

  // MARK: Beginning and joining

  /// Begins to share through an empty repository, or asks to share what computers share there already. Asks for the passcode
  /// in the window, unless the task was cancelled before. The request of a private store lasts as long as this program.
  ///
  /// - Parameters:
  ///   - remote: the repository, as git takes it.
  ///   - machine: what this computer is called on the others.
  static func enter(_ remote: String, as machine: String, joining: Bool, _ shown: ShownStore) async throws(Failure) {
    guard let store = shown.store else { return }
    let place = shown.place
    let (repository, start, records) = try await VaultWork.runAside { () async throws(Failure) in
      try await prepare(remote, at: place, store, joining: joining)
    }
    do {
      guard !Task.isCancelled else { throw VaultError.cancelled }
      let entry: SyncBeginning = joining ? .join(machine: machine, records: records) : .new(machine: machine)
      try await shown.ask(for: Text.of("share secrets with your computers")) { service, asking throws(VaultError) in
        try await service.sync.begin(entry, asking)
      }
      try await VaultWork.runAside { () async throws(Failure) in
        try await explained(store) { (service) async throws(SyncRunError) in
          var first = SyncRun(repository, service)
          first.start = start
          _ = try await first.run()
        }
      }
    } catch let failure as Failure {
      throw failure
    } catch let error as VaultError {
      // Nothing was begun: the local copy is made again when the person tries once more.
      try? await VaultWork.runAside { () throws(SyncRunError) in try repository.remove() }
      throw Failure(error)
    } catch {
      throw .defect(error)
    }
  }

  /// Makes the local copy of the repository, and reads what is in it.
  private nonisolated static func prepare(
    _ remote: String, at place: ShownStore.Place, _ store: SecretStore, joining: Bool
  ) async throws(Failure) -> (GitRepository, SyncRun.Start, [SyncFile]) {
    let isMember = try await explained(store) { (service) async throws(SyncRunError) in
      do throws(VaultError) { return try await service.status().standing == .member } catch { throw .vault(error) }
    }
    // A command may have begun meanwhile: its copy of the repository stays.
    guard !isMember else {
      throw Failure(
        .exists, Text.of("this computer shares secrets with others already"),
        advice: Text.of("close this, and look again"))
    }
    let repository: GitRepository
    do throws(SyncRunError) {
      let remote = try SyncRemote(remote, in: FullPath.currentFolder)
      let git = try GitProgram(environment: OwnEnvironment.entries, mayAsk: false)
      do throws(VaultError) { repository = try GitRepository(at: folder(of: place), git) } catch { throw .vault(error) }
      try await repository.make(for: remote)
    } catch {
      throw Failure(error, remote: remote)
    }
    do throws(Failure) {
      return try await explained(store) { (service) async throws(SyncRunError) in
        let run = SyncRun(repository, service)
        if joining {
          let (records, start) = try await run.records()
          return (repository, start, records)
        }
        return (repository, try await run.requireEmpty(), [])
      }
    } catch {
      try? repository.remove()
      throw error
    }
  }

  private nonisolated static func explained<Value: Sendable>(
    _ store: SecretStore, _ work: (any SyncService) async throws(SyncRunError) -> Value
  ) async throws(Failure) -> Value {
    try await store.call { service throws(Failure) in
      do throws(SyncRunError) { return try await work(service.sync) } catch { throw Failure(error) }
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

  /// The local copy of the repository. git asks for nothing.
  nonisolated static func repository(of place: ShownStore.Place) throws(Failure) -> GitRepository {
    let path: String
    do throws(VaultError) { path = try folder(of: place) } catch { throw Failure(error) }
    do throws(SyncRunError) {
      return GitRepository(at: path, try GitProgram(environment: OwnEnvironment.entries, mayAsk: false))
    } catch {
      throw Failure(error)
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
      throw .configuration(Text.of("there is no home directory"))
    }
    return folder
  }
}
