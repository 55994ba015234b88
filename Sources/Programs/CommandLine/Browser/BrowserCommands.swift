import ArgumentParser
import BrowserLogins
import CommandBase
import Glibc
internal import Primitives
import Processes
internal import Prompts
import SecretModel
import Settings
import Whorl

struct BrowserGroup: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browser",
    abstract: "Let a finger fill in the logins of web sites.",
    discussion: """
      The extension KeePassXC-Browser for Firefox and Chromium asks Whorl for the logins of a page, and Whorl asks you. \
      docs/browsers.md describes which items are the logins of a site.

      Examples:
        whorl browser enable
        whorl browser list
        whorl browser forget firefox-esr-1f0a22b7
        whorl browser disable
      """,
    subcommands: [
      BrowserEnable.self, BrowserDisable.self, BrowserStatus.self, BrowserList.self, BrowserForget.self,
      BrowserHostCommand.self,
    ])
}

struct BrowserEnable: Command {
  static let configuration = CommandConfiguration(
    commandName: "enable",
    abstract: "Have the browsers of this user ask Whorl for logins.",
    discussion: """
      Writes a file for each browser that there is: Firefox, Chromium, Google Chrome, Brave, Microsoft Edge, Vivaldi. The \
      extension looks for it under the name that KeePassXC has, so one of the two gives logins. A file of KeePassXC is \
      kept, and 'whorl browser disable' puts it back. Turn off 'Enable browser integration' there, or it writes its own again.

      The extension KeePassXC-Browser is the package webext-keepassxc-browser of Debian, or comes from the add-ons of \
      the browser. Connect it once, by its icon: that needs a finger, or the passcode in its place.

      Examples:
        whorl browser enable
        whorl browser enable --replace
      """)

  static let spoken = "browser enable"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Take the place of KeePassXC, or of another program, without a question.")
  var replace = false

  @Option(
    help: ArgumentHelp(
      "The program that browsers run, in place of browser-whorl.",
      discussion: "Such as a script that runs 'whorl browser host' with options.", valueName: "path"))
  var program: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    // Without a store there is nothing to give.
    _ = try await session.openStore()
    let path = try NamedHelper(
      program, ofWhorl: BrowserManifest.ownProgram, refusal: "browsers pass no options on",
      scriptIn: "whorl browser host"
    ).path(options)
    let dialogue = CommandDialogue(session, of: Self.spoken, isAssenting: replace)
    try await BrowserChange(dialogue).enable(path, assent: "--replace")
    if options.json { try JSON.print(try BrowserReport.all()) }
  }
}

struct BrowserDisable: Command {
  static let configuration = CommandConfiguration(
    commandName: "disable",
    abstract: "Have the browsers ask Whorl for logins no more.",
    discussion: """
      Removes the files of 'whorl browser enable', and puts back those of another program that were there before. The \
      logins stay in the store, and so do the connected browsers: 'whorl browser forget --all' forgets them.

      Examples:
        whorl browser disable
      """)

  static let spoken = "browser disable"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    _ = try BrowserChange(CommandDialogue(session, of: Self.spoken)).disable()
    if options.json { try JSON.print(try BrowserReport.all()) }
  }
}

struct BrowserStatus: Command {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show which browsers ask Whorl for logins.",
    discussion: """
      Shows each browser that there is, and the program that it asks.

      Examples:
        whorl browser status
      """)

  static let spoken = "browser status"

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let reports = try BrowserReport.all()
    if options.json { return try JSON.print(reports) }
    try StandardOutput.columns(reports.map { ($0.browser, $0.words) })
  }
}

private struct BrowserReport: Encodable {
  var browser: String
  var asks: BrowserManifest.State
  var program: String?
  var file: String

  static func all() throws(Failure) -> [BrowserReport] {
    try BrowserManifest.all().map { manifest in
      BrowserReport(
        browser: manifest.browser.title, asks: manifest.state, program: manifest.program, file: manifest.path)
    }
  }

  var words: String {
    switch asks {
    case .missing: "asks nobody"
    case .whorl: "asks Whorl"
    case .other: "asks another program\(program.map { ": \($0)" } ?? "")"
    }
  }
}

struct BrowserList: Command {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the browsers that are connected with the store.",
    discussion: """
      Each was connected with a finger, or the passcode in its place. The program is what asked then.

      Examples:
        whorl browser list
      """)

  static let spoken = "browser list"

  @OptionGroup var options: GlobalOptions

  private struct Listed: Encodable {
    var name: String
    var program: String
    var connected: Double
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let store = try await session.openStore()
    let all = try await session.explained { () async throws(VaultError) in try await Association.all(in: store) }
    if options.json {
      return try JSON.print(all.map { Listed(name: $0.id, program: $0.program, connected: $0.created) })
    }
    var table = Table()
    for each in all { table.add([each.id, Spoken.time(Int64(clamping: each.created)), each.program]) }
    try table.print(head: ["NAME", "CONNECTED", "PROGRAM"])
  }
}

struct BrowserForget: Command {
  static let configuration = CommandConfiguration(
    commandName: "forget",
    abstract: "Disconnect a browser from the store.",
    discussion: """
      It gets no login any more, even while it runs, until it is connected again. 'whorl browser list' lists the names.

      Examples:
        whorl browser forget firefox-esr-1f0a22b7
        whorl browser forget --all
      """)

  static let spoken = "browser forget"

  @OptionGroup var options: GlobalOptions

  @Flag(help: "Disconnect all of them.")
  var all = false

  @Argument(help: ArgumentHelp("The name of a connected browser.", valueName: "name"))
  var name: String?

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    guard all != (name != nil) else {
      throw .usage("name one browser, or --all", advice: "'whorl browser list' lists them")
    }
    let store = try await session.openStore()
    let forgotten = try await session.explained { () async throws(VaultError) in
      try await Association.forget(name, in: store)
    }
    if let name, forgotten.isEmpty {
      throw Failure(
        .notFound, "no browser is connected as \(name)", advice: "'whorl browser list' lists them")
    }
    if options.json { return try JSON.print(forgotten) }
    for each in forgotten { StandardError.line(Visible.text("Disconnected \(each).")) }
  }
}
