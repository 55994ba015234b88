import ArgumentParser
import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

struct SyncRemoteCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Show the shared repository, or change it to another one.",
    discussion: """
      For a repository that has moved, or a machine whose copy of it was removed. What the old one had and the new one \
      has not counts as lost: 'whorl sync now --put-back' publishes it there.

      Examples:
        whorl sync remote
        whorl sync remote ssh://new.example.com/secrets.git
      """)

  static let spoken = "sync remote"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The new repository.", valueName: "remote"))
  var remote: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let sync = try await SyncSession(session)
    if let text = remote {
      let remote = try SyncSession.remote(text)
      guard try await sync.status().standing != .none else { throw Failure(.notInCircle(.none)) }
      try await sync.explained { () async throws(SyncRunError) in
        if sync.repository.exists {
          try await sync.repository.change(to: remote)
        } else {
          try await sync.repository.make(for: remote)
        }
      }
    }
    let url = try await sync.explained { () async throws(SyncRunError) in try await sync.repository.url() }
    if options.json { return try JSON.print(["remote": url]) }
    try StandardOutput.line(Visible.text(url))
  }
}
