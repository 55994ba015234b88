import ArgumentParser
import CommandBase
import Glibc
import Moving
internal import Primitives
internal import Prompts
import SecretModel
import Settings

/// The arguments of the commands that create or join a circle.
struct SyncEntryOptions: ParsableArguments {
  @Argument(help: ArgumentHelp("The git repository through which your computers share.", valueName: "remote"))
  var remote: String

  @Option(
    help: ArgumentHelp(
      "What this computer is called on the others.", discussion: "Default: its host name.", valueName: "machine"))
  var name: String?

  @Flag(help: "Do not enable the user units: sync only when you run 'whorl sync now'.")
  var noTimer = false

  @OptionGroup var recovery: RecoveryKeyOption

  /// The machine's name.
  var machine: String {
    if let name { return name }
    var host = [CChar](repeating: 0, count: 256)
    // Writes a terminated name, shorter than the buffer.
    guard gethostname(&host, host.count - 1) == 0 else { return "machine" }
    let whole = host.withUnsafeBufferPointer { $0.baseAddress.flatMap { String(validatingCString: $0) } } ?? ""
    let first = String(whole.prefix { $0 != "." })
    return first.isEmpty ? "machine" : first
  }

  func validate() throws {
    guard let name else { return }
    guard !name.isEmpty, name.utf8.count <= 64, !name.hasControlCharacters else {
      throw ValidationError("--name takes 1 to 64 bytes, without control characters.")
    }
  }
}

/// A call that brings a machine into a circle, after authentication.
typealias SyncEntryCall = @Sendable (any SyncService, Asking) async throws(VaultError) -> Void

extension SyncSession {
  /// Brings a store that is in no circle into one. Makes the local copy of the remote, and removes it on failure.
  ///
  /// - Parameters:
  ///   - reason: the reason shown when the passcode is asked for.
  ///   - prepare: checks the remote, and returns its state and the call that enters its circle.
  /// - Returns: the state of the remote, from which the first run begins.
  func enter(
    _ remote: SyncRemote, _ recovery: RecoveryKeyOption, reason: String,
    _ prepare: (SyncRun) async throws(Failure) -> (SyncRun.Start, SyncEntryCall)
  ) async throws(Failure) -> SyncRun.Start {
    // A request that was interrupted is made again.
    guard try await status().standing != .member else {
      throw Failure(
        .exists, "this computer shares secrets with others already", name: "errSecDuplicateItem",
        advice: "'whorl sync status' shows with which; 'whorl sync leave --this-computer' ends it")
    }
    try await explained { () async throws(SyncRunError) in try await repository.make(for: remote) }
    do throws(Failure) {
      let (start, call) = try await prepare(SyncRun(repository, try await session.request { $0.sync }))
      try await session.asking(session.answers(recoveryKey: recovery.recoveryFd), reason: reason) {
        try await call($0.sync, $1)
      }
      return start
    } catch {
      try? repository.remove()
      throw error
    }
  }

  /// Enables the user units, if they are installed.
  func enableUnits(_ options: GlobalOptions, _ hardening: Hardening) throws(Failure) {
    do throws(Failure) {
      guard try !SyncUnits.enable(for: session, ServiceManager(hardening)) else { return }
      StandardError.line(
        "Nothing syncs by itself here, since Whorl's user units are not installed: run 'whorl sync now' after changes.")
    } catch {
      // Only report it: the circle exists, though nothing syncs automatically.
      StandardError.line(error.line(command: "sync"))
    }
  }
}

struct SyncInit: Command {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Begin to share, with this computer as the first.",
    discussion: """
      REMOTE is an empty git repository that you can push to: ssh://HOST/PATH, HOST:PATH, https://HOST/PATH, or a folder \
      made with 'git init --bare'. Whoever can read it sees how many items there are and when they change, and how each \
      computer keeps its keys, and neither names nor secrets. Asks for the passcode (the recovery key where none is set).

      git and ssh reach it as they do in your shell. The timer can type no passphrase and touch no reader, so use a key or \
      a helper that asks for nothing.

      Nothing is shared yet: 'whorl sync add NAME' shares an item.

      Examples:
        whorl sync init git@example.com:me/secrets.git
        whorl sync init /media/stick/secrets.git --name laptop --no-timer
      """)

  static let spoken = "sync init"

  @OptionGroup var options: GlobalOptions

  @OptionGroup var entry: SyncEntryOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let remote = try SyncSession.remote(entry.remote)
    let machine = entry.machine
    let sync = try await SyncSession(session)
    let start = try await sync.enter(remote, entry.recovery, reason: "share secrets with other machines") {
      run throws(Failure) in
      let start = try await sync.explained { () async throws(SyncRunError) in try await run.requireEmpty() }
      return (start, { service, asking throws(VaultError) in try await service.begin(.new(machine: machine), asking) })
    }
    try await sync.publish(from: start)
    if !entry.noTimer { try sync.enableUnits(options, hardening) }
    if options.json { return try JSON.print(["machine": machine, "remote": remote.url]) }
    StandardError.line(
      Visible.text("This machine, “\(machine)”, is the first that shares in \(remote.url). Next: whorl sync add NAME")
    )
  }
}
