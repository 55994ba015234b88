import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
internal import SecretModel
import Settings
import Whorl

struct SSHAdd: Command {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Make a key for SSH in the vault, or bring one in.",
    discussion: """
      Prints the public key, a line for ~/.ssh/authorized_keys on the servers. The private key is made in the vault and \
      never leaves it, so make a second key as a way back. Without a name it is USER@HOST, as ssh-keygen names keys.

      --import brings in a private key of a file, once ssh-add has read it and asked for its passphrase, and the \
      user's certificate in FILE-cert.pub. The file stays; delete it when the key works.

      --access says what a signature needs, as in 'whorl set'. Each signature needs a touch of its own, unless --minutes \
      lets a touch hold for the same program, host and user.

      A key with --host signs in to that host alone, and signs nothing else: the host is recognized by its key or its \
      certificate, and by its name in ~/.ssh/known_hosts. As for ssh-add -h, 'user@host' names the only user, and 'a>b' \
      allows b from a, a host that the agent was handed on to with ssh -A; a itself needs a --host of its own.

      With --lifetime, whorl-agent stops using the key after that time, and removes it. The time is written as for \
      ssh-add -t.

      Examples:
        whorl ssh add
        whorl ssh add work --type ecdsa-256 --minutes 10
        whorl ssh add old --import ~/.ssh/id_rsa
        whorl ssh add trip --lifetime 3d --host a.test --host 'a.test>b.test'
      """)

  static let spoken = "ssh add"

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The key's name, which ssh shows as its comment.", valueName: "name"))
  var name: String?

  @Option(help: ArgumentHelp("The kind of key to make.", discussion: "Default: ed25519."))
  var type: KeyAlgorithm?

  @Option(
    name: .customLong("import"), help: ArgumentHelp("Bring in the private key of this file.", valueName: "file"),
    completion: .file())
  var file: String?

  @Option(help: "What a signature needs.")
  var access: AccessControl.Constraint?

  @Option(
    help: ArgumentHelp(
      "How long a touch holds for the same program, host and user, up to \(SSHKey.longestGrant); 0: for one signature.",
      valueName: "n"))
  var minutes = 0

  @Option(
    help: ArgumentHelp(
      "Sign in to this host alone: [user@]name, or from>[user@]name; can be given several times.", valueName: "rule"),
    transform: Self.rule)
  var host: [SSHHostRule] = []

  @Option(
    help: ArgumentHelp(
      "Remove the key after this time: seconds, or with units such as 30m, 1h30m or 3d.", valueName: "time"),
    transform: Self.lifetime)
  var lifetime: Int64?

  private static func rule(_ text: String) throws -> SSHHostRule {
    guard let rule = SSHHostRule(text) else {
      throw ValidationError("--host takes the name of one host, as [user@]name or from>[user@]name.")
    }
    return rule
  }

  private static func lifetime(_ word: String) throws -> Int64 {
    guard let seconds = TimeSpan.sshSeconds(word), seconds > 0 else {
      throw ValidationError("--lifetime takes seconds, or a time such as 30m, 1h30m or 3d.")
    }
    return seconds
  }

  func validate() throws {
    if file != nil, type != nil {
      throw ValidationError("--type is for a new key; --import keeps the kind of its key.")
    }
    guard (0...SSHKey.longestGrant).contains(minutes) else {
      throw ValidationError("--minutes takes 0 to \(SSHKey.longestGrant).")
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let name = name ?? Self.usualName
    // The name becomes a part of single lines of text, such as a line of `authorized_keys`.
    guard !name.isEmpty, name == Visible.text(name) else {
      throw .usage("'\(name)' cannot be the name of a key", advice: "choose one without control characters")
    }
    guard try await StoredKeys<SSHKey>(in: session.openStore()).all().allSatisfy({ $0.name != name }) else {
      throw Failure(
        .exists, "an SSH key \(name) exists already", name: "errSecDuplicateItem", advice: "name this one otherwise")
    }
    let access = AccessControl(access ?? session.configuration.access ?? .presence)
    let contents: SSHKeyFile.Contents? = if let file { try await SSHKeyFile(file).read(session) } else { nil }
    let item = SSHKey.item(
      named: name, access: access, grantedMinutes: minutes, hosts: host,
      end: lifetime.map { Double(SystemClock.calendar.nanoseconds) / 1e9 + Double($0) },
      certificate: contents?.certificate)
    let source: KeySource = if let contents { .ssh(contents.privateKey) } else { .generated(type ?? .ed25519) }
    try await session.openIfWaiting(session.answers(), to: "keep the SSH key \(PromptLabel.text(name))")
    let stored: Item
    do throws(Failure) {
      stored = try await session.request { try await $0.addKey(item, from: source) }
    } catch {
      guard let file, case .invalidRequest(let why)? = error.cause else { throw error }
      throw Failure(
        .usage, "\(file) is not taken: \(why)", name: "errSecParam",
        advice: "'whorl ssh add' without --import makes a key of a kind that is")
    }
    guard let key = SSHKey(stored) else {
      throw Failure(.internalError, "the vault made another key", name: "errSecInternalError", advice: "report it")
    }
    if let file, contents?.hasOtherCertificate == true {
      StandardError.line(
        "The certificate beside \(Visible.text(file)) is not kept: it is no user's certificate of this key.")
    }
    if options.json { return try JSON.print(SSHKeyRow(key)) }
    try StandardOutput.line(key.line)
  }

  /// `USER@HOST`.
  private static var usualName: String {
    var host = [CChar](repeating: 0, count: 256)
    // Writes at most the given number of bytes. A longer name may have no terminator, so one byte is kept.
    gethostname(&host, host.count - 1)
    // The entry belongs to libc and is valid until the next call.
    let user = getpwuid(getuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) } ?? "\(getuid())"
    return "\(user)@\(String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
  }
}
