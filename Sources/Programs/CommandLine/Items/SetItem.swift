import ArgumentParser
internal import BrowserLogins
import CommandBase
import Glibc
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings
import Whorl

struct SetItem: Command {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Store a secret.",
    discussion: """
      The secret is what comes on standard input, up to 1 MiB; typed on a terminal it is asked for twice and not shown. \
      One line of text that is piped, as by echo, is stored without the line feed at its end, unless --exact is given. \
      All else is stored byte for byte: several lines, what is not text, and files. The first slash of the name splits service and account.

      --access says what releases it:
        presence      a finger, or the passcode in its place (the default)
        current-set   one of the fingers enrolled today; dead, for good, when they change
        any-finger    any finger enrolled at the time of reading
        passcode      the passcode
        none          nothing: whoever can run whorl on this store

      --accessible passcode-set ties the item to there being a passcode: it dies when the passcode is removed.

      Examples:
        whorl set mail/alice
        whorl set bank --sync
        whorl set forum/alice --url https://forum.example
        printf %s "$TOKEN" | whorl set forge/token --access current-set
        echo "$TOKEN" | whorl set forge/token --replace
        whorl set backup < key.bin --replace
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The item's name: SERVICE or SERVICE/ACCOUNT.", valueName: "name"))
  var name: String

  @Option(help: "What releases the secret.")
  var access: AccessControl.Constraint?

  @Option(help: "When the item is accessible.")
  var accessible = Accessibility.whenUnlocked

  @Flag(help: "Ask for a password of the item's own, which reading it needs too.")
  var appPassword = false

  @Option(
    help: ArgumentHelp("Read the application password from this descriptor.", valueName: "n"),
    transform: GivenDescriptors.number)
  var appPasswordFd: Int32?

  @Flag(help: "Overwrite an item of that name.")
  var replace = false

  @Option(
    help: ArgumentHelp("The address of the site whose login it is, for 'whorl browser'.", valueName: "address"))
  var url: String?

  @Flag(help: "Share the item with your other computers ('whorl sync').")
  var sync = false

  @Flag(help: "Keep the line feed at the end of a line that is piped.")
  var exact = false

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let name = try session.itemName(self.name)
    if let url, SiteAddress(saved: url) == nil {
      throw .usage("'\(url)' is no address of a site", advice: "write it as https://example.com")
    }
    let access = AccessControl(
      access ?? session.configuration.access ?? .presence, applicationPassword: appPassword || appPasswordFd != nil)
    // Check before the secret is typed. The vault decides when it is stored, but does not count a shared item and one
    // of this machine only as the same item.
    let there = try await items(named: name, session)
    if !replace { try requireFree(name, there) }
    let secret = SharedSecret(try read(name))
    var new = NewItem(named: name, access: access, accessibility: accessible)
    // A shared item stays shared.
    let isShared = sync || there.contains(where: \.isShared)
    if isShared { new.attributes[.synchronizable] = .number(1) }
    // A login stays that of its site.
    new.attributes[.url] = url.map { .text($0) } ?? there.lazy.compactMap { $0.attributes[.url] }.first
    let item = new
    let replace = replace
    let answers = session.answers(applicationPassword: appPasswordFd)
    try await session.storing(item, answers) { vault, asking in
      do throws(VaultError) {
        _ = try await vault.add(item, secret: secret.copy(), replacing: replace, asking)
      } catch {
        // Swift 6.2 crashes if the catch has the pattern.
        guard case .duplicateItem = error else { throw error }
        try requireFree(name, try await vault.allItems(ItemSearch(named: name)))
        throw Failure.exists(name)
      }
    }
    let replaced = there.filter { $0.isShared != isShared }.map(\.id)
    if !replaced.isEmpty {
      _ = try await session.request { try await $0.delete(.ids(replaced)) }
    }
    if options.json {
      try JSON.print(
        Stored(
          service: name.service, account: name.account, access: access.description,
          applicationPassword: access.applicationPassword, accessible: accessible.rawValue))
    } else if StandardError.isTerminal {
      StandardError.line("Stored \(Visible.text(name.description)).")
    }
  }

  private func items(named name: ItemName, _ session: Session) async throws(Failure) -> [Item] {
    try await session.request { try await $0.allItems(ItemSearch(named: name)) }
  }

  /// Throws if one of the items makes the name taken; the error says in which state it is.
  private func requireFree(_ name: ItemName, _ there: [Item]) throws(Failure) {
    if there.contains(where: { $0.state == .living }) { throw .exists(name) }
    if there.contains(where: { $0.state == .damaged }) { throw Failure(.itemDamaged(name)) }
  }

  private func read(_ name: ItemName) throws(Failure) -> SecretBytes {
    if isatty(STDIN_FILENO) == 1 {
      guard let terminal = Terminal() else {
        throw .interactionNotAllowed("there is no terminal to type the secret at", advice: "give it on standard input")
      }
      do {
        return try terminal.readNewSecret("secret of \(name)", limit: 4095)
      } catch {
        throw Failure(error)
      }
    }
    do {
      var secret = try SecretBytes.read(from: STDIN_FILENO, limit: NewItem.secretLimit)
      if !exact, Self.isPiped, secret.isLineOfText { secret.resize(to: secret.count - 1) }
      return secret
    } catch {
      switch error {
      case .tooLong(let limit): throw Failure(.secretTooLong(limit: limit))
      case .endOfInput: return SecretBytes(count: 0)
      case .system(let code): throw .cannotRead("the secret from standard input", code)
      }
    }
  }

  /// Whether standard input is not a file. The contents of a file are stored unchanged.
  private static var isPiped: Bool {
    var status = stat()
    return fstat(STDIN_FILENO, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
  }

  private struct Stored: Encodable {
    var service: String
    var account: String
    var access: String
    var applicationPassword: Bool
    var accessible: String
  }
}

extension SecretBytes {
  /// Whether this is one line of text ended by a line feed. Random bytes that happen to end with one are not text.
  fileprivate var isLineOfText: Bool {
    withUnsafeBytes { bytes in
      guard bytes.last == UInt8(ascii: "\n") else { return false }
      let line = bytes.dropLast()
      let hasControls = line.contains { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7F }
      return !hasControls && Unicode.isValidUTF8(line)
    }
  }
}

extension Unicode {
  /// Whether these bytes are UTF-8. Does not copy them into a string.
  static func isValidUTF8(_ bytes: some Sequence<UInt8>) -> Bool {
    var decoder = UTF8()
    var rest = bytes.makeIterator()
    while true {
      switch decoder.decode(&rest) {
      case .scalarValue: continue
      case .emptyInput: return true
      case .error: return false
      }
    }
  }
}

extension Failure {
  fileprivate static func exists(_ name: ItemName) -> Failure {
    Failure(.exists, "\(name) exists already", name: "errSecDuplicateItem", advice: "--replace overwrites it")
  }
}
