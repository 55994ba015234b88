import ArgumentParser
import CommandBase
import Primitives
internal import Prompts
internal import SecretModel
import Settings

/// A key as JSON.
struct SSHKeyRow: Encodable {
  var name: String
  var id: String
  var type: String
  var publicKey: String
  /// A line of a file of certificates.
  var certificate: String?
  var access: String
  var minutes: Int
  var hosts: [String]
  /// When whorl-agent removes it, in seconds since 1970.
  var end: Double?
  var state: String

  init(_ key: SSHKey) {
    (name, id, type, publicKey) = (key.name, key.id.spoken, key.type, key.line)
    (access, minutes, state) = (key.access.description, key.grantedMinutes, key.state.rawValue)
    certificate = key.certificateLine
    (hosts, end) = (key.hosts.map(\.text), key.end)
  }
}

struct SSHList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the keys for SSH.",
    discussion: """
      Needs no finger. A dead key was bound to fingers or a passcode that are gone; an ended one is removed when \
      whorl-agent is next asked for keys. Where keys have the same name, their ids are listed, too.

      Examples:
        whorl ssh list
        whorl ssh list --json
      """)

  static let spoken = "ssh list"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await StoredKeys<SSHKey>(in: session.openStore()).all([.living, .dead])
    if options.json { return try JSON.print(["keys": keys.map(SSHKeyRow.init)]) }
    let hasTwins = Set(keys.map(\.name)).count < keys.count
    var table = Table()
    for key in keys {
      let access = StandardOutput.isTerminal ? key.access.spoken : "\(key.access)"
      let touch = key.grantedMinutes > 0 ? "\(access), \(key.grantedMinutes) min" : access
      let hosts = key.hosts.isEmpty ? "every host" : key.hosts.map(\.text).joined(separator: ", ")
      let type = key.certificate == nil ? key.type : "\(key.type), certified"
      table.add([key.name, type, touch, hosts, Self.state(of: key)] + (hasTwins ? [key.id.spoken] : []))
    }
    try table.print(head: ["name", "type", "access", "hosts", "state"] + (hasTwins ? ["id"] : []))
  }

  /// The state, with the rest of a lifetime.
  private static func state(of key: SSHKey) -> String {
    let now = Double(SystemClock.calendar.nanoseconds) / 1e9
    guard key.state == .living, let end = key.end else {
      return StandardOutput.isTerminal ? key.state.spoken ?? "ready" : key.state.rawValue
    }
    return key.hasEnded(at: now) ? "ended" : "ends in \(TimeSpan.words(end - now))"
  }
}

struct SSHRemove: Command {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove keys for SSH.",
    discussion: """
      Needs no finger. A key that was made in the vault exists nowhere else: servers that know no other one are closed \
      then. Removes all that are named, or none when one of them does not exist.

      Examples:
        whorl ssh rm work
      """)

  static let spoken = "ssh rm"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names of the keys, or their ids.", valueName: "name"), completion: .sshKeyNames)
  var names: [String]

  @Flag(name: .shortAndLong, help: "Do not ask whether the keys may go.")
  var yes = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let keys = try await StoredKeys<SSHKey>(in: session.openStore()).named(names, [.living, .dead])
    try await session.remove(keys, isAssenting: yes)
    if options.json { try JSON.print(["removed": keys.map(\.name)]) }
  }
}

struct SSHPublic: Command {
  static let configuration = CommandConfiguration(
    commandName: "public",
    abstract: "Show public keys.",
    discussion: """
      Prints a line for ~/.ssh/authorized_keys for each key that is named, or for all. Needs no finger.

      Examples:
        whorl ssh public
        whorl ssh public work > ~/.ssh/work.pub
      """)

  static let spoken = "ssh public"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names of the keys, or their ids.", valueName: "name"), completion: .sshKeyNames)
  var names: [String] = []

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let stored = StoredKeys<SSHKey>(in: try await session.openStore())
    let keys = names.isEmpty ? try await stored.all() : try await stored.named(names)
    if options.json { return try JSON.print(["keys": keys.map(SSHKeyRow.init)]) }
    for key in keys { try StandardOutput.line(key.line) }
  }
}
