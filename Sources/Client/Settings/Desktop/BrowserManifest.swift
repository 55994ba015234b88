internal import FoundationEssentials
internal import Glibc
internal import Primitives
internal import Whorl

/// A browser that can ask Whorl for logins, and its folders.
package enum Browser: String, CaseIterable, Sendable {
  case firefox, chromium, chrome, brave, edge, vivaldi

  package var title: String {
    switch self {
    case .firefox: "Firefox"
    case .chromium: "Chromium"
    case .chrome: "Google Chrome"
    case .brave: "Brave"
    case .edge: "Microsoft Edge"
    case .vivaldi: "Vivaldi"
    }
  }

  /// The names under which it is started.
  private var programs: [String] {
    switch self {
    case .firefox: ["firefox", "firefox-esr"]
    case .chromium: ["chromium", "chromium-browser"]
    case .chrome: ["google-chrome", "google-chrome-stable"]
    case .brave: ["brave-browser"]
    case .edge: ["microsoft-edge", "microsoft-edge-stable"]
    case .vivaldi: ["vivaldi", "vivaldi-stable"]
    }
  }

  /// Its folder below the home folder, or below `$XDG_CONFIG_HOME`.
  private var folder: (isInHome: Bool, path: String) {
    switch self {
    case .firefox: (true, ".mozilla")
    case .chromium: (false, "chromium")
    case .chrome: (false, "google-chrome")
    case .brave: (false, "BraveSoftware/Brave-Browser")
    case .edge: (false, "microsoft-edge")
    case .vivaldi: (false, "vivaldi")
    }
  }

  /// The names under which it is known to Flatpak and Snap.
  private var packages: [String] {
    switch self {
    case .firefox: [".var/app/org.mozilla.firefox", "snap/firefox"]
    case .chromium: [".var/app/org.chromium.Chromium", "snap/chromium"]
    case .chrome: [".var/app/com.google.Chrome"]
    case .brave: [".var/app/com.brave.Browser", "snap/brave"]
    case .edge: [".var/app/com.microsoft.Edge"]
    case .vivaldi: [".var/app/com.vivaldi.Vivaldi", "snap/vivaldi"]
    }
  }

  fileprivate func folder(home: String, configuration: String) -> String {
    "\(folder.isInHome ? home : configuration)/\(folder.path)"
  }

  fileprivate var hostFolder: String { self == .firefox ? "native-messaging-hosts" : "NativeMessagingHosts" }

  /// Whether the person has it, or has used it.
  fileprivate func isThere(home: String, configuration: String) -> Bool {
    let places = ["/usr/local/bin", "/usr/bin"]
    return access(folder(home: home, configuration: configuration), F_OK) == 0
      || programs.contains { program in places.contains { access("\($0)/\(program)", X_OK) == 0 } }
  }

  /// The folder of one in a sandbox, if the person has used it.
  fileprivate func sandbox(home: String) -> String? {
    packages.map { "\(home)/\($0)" }.first { access($0, F_OK) == 0 }
  }
}

/// The file by which a browser finds the program that gives it logins. There is one for each browser, under a name that
/// the extension KeePassXC-Browser has built in, so Whorl's takes the place of KeePassXC's, which is kept beside it.
package struct BrowserManifest: Sendable {
  package enum State: String, Encodable, Sendable {
    case missing
    case whorl
    /// Of KeePassXC, or another program.
    case other
  }

  /// The name under which the extension starts a program.
  package static let name = "org.keepassxc.keepassxc_browser"
  /// The name under which browsers run `whorl browser host`.
  package static let ownProgram = "browser-whorl"

  private static let mark = "Written by 'whorl browser enable'; 'whorl browser disable' removes it."
  private static let limit = 64 << 10
  /// The extension in the add-ons of Mozilla and in Debian.
  private static let mozillaExtension = "keepassxc-browser@keepassxc.org"
  /// The extension in the stores of Chrome and of Edge. That of Debian has the key of the first.
  private static let chromiumExtensions = [
    "chrome-extension://oboonakemofpalcgghocfoadofidjkkk/", "chrome-extension://pdffhmdngciaglkoonimfcmckehcpafo/",
  ]

  package let browser: Browser
  package let path: String

  /// The browsers that there are.
  ///
  /// - Throws: without a home directory.
  package static func all() throws(Failure) -> [BrowserManifest] {
    let (home, configuration) = try folders()
    return Browser.allCases.filter { $0.isThere(home: home, configuration: configuration) }
      .map { browser in
        let folder = browser.folder(home: home, configuration: configuration)
        return BrowserManifest(browser: browser, path: "\(folder)/\(browser.hostFolder)/\(name).json")
      }
  }

  /// The browsers in a sandbox of Flatpak or Snap, each with its folder there.
  package static func sandboxed() throws(Failure) -> [(browser: Browser, folder: String)] {
    let (home, _) = try folders()
    return Browser.allCases.compactMap { browser in browser.sandbox(home: home).map { (browser, $0) } }
  }

  private static func folders() throws(Failure) -> (home: String, configuration: String) {
    guard let home = UserEnvironment.variable("HOME"), home.hasPrefix("/"),
      let configuration = BaseDirectories.configuration
    else { throw .noHome }
    return (home, configuration)
  }

  // MARK: The file

  private struct Contents: Codable {
    // Another program's file may lack some.
    var name: String?
    var description: String?
    var path: String?
    var type: String?
    var extensions: [String]?
    var origins: [String]?

    private enum CodingKeys: String, CodingKey {
      case name, description, path, type
      case extensions = "allowed_extensions"
      case origins = "allowed_origins"
    }
  }

  private var contents: Contents? {
    guard let bytes = try? SmallFile.read(path, limit: Self.limit) else { return nil }
    return try? JSONDecoder().decode(Contents.self, from: Data(bytes))
  }

  package var state: State {
    var status = stat()
    guard lstat(path, &status) == 0 else { return errno == ENOENT || errno == ENOTDIR ? .missing : .other }
    return status.st_mode & S_IFMT == S_IFREG && contents?.description == Self.mark ? .whorl : .other
  }

  /// The program that it names.
  package var program: String? { contents?.path }

  /// Where the file of another program is kept.
  package var kept: String { "\(path).before-whorl" }
  package var hasKept: Bool {
    var status = stat()
    return lstat(kept, &status) == 0
  }

  /// Names a program. The file of another program is kept.
  package func enable(_ program: String) throws(Failure) {
    let contents = Contents(
      name: Self.name, description: Self.mark, path: program, type: "stdio",
      extensions: browser == .firefox ? [Self.mozillaExtension] : nil,
      origins: browser == .firefox ? nil : Self.chromiumExtensions)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    let bytes: [UInt8]
    do { bytes = Array(try encoder.encode(contents)) } catch { throw .defect(error) }
    // Put back by a signal, too, as long as Whorl's file is not in its place.
    let putBack: @Sendable () -> Void = { if hasKept, state == .missing { _ = rename(kept, path) } }
    let (_, moved) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      guard state != .other || rename(path, kept) == 0 else { throw .onFile("cannot move \(path)", errno) }
    } undo: { _ in
      putBack()
    }
    defer { Unfinished.ofThisProgram.forget(moved) }
    do throws(PersonalFile.Unwritten) {
      try PersonalFile(path).write(contents: bytes + [UInt8(ascii: "\n")], mode: 0o644)
    } catch {
      putBack()
      throw Failure(
        .inputOutput, "cannot write \(error.problem)", name: "errSecIO",
        advice: "see whether you may write to its folder, and whether there is room")
    }
  }

  /// Removes Whorl's file, and puts back the one that was there.
  ///
  /// - Returns: whether anything was changed.
  package func disable() throws(Failure) -> Bool {
    guard state == .whorl else { return false }
    if hasKept {
      guard rename(kept, path) == 0 else { throw .onFile("cannot put back \(path)", errno) }
    } else {
      guard unlink(path) == 0 else { throw .onFile("cannot remove \(path)", errno) }
    }
    return true
  }
}

/// Has browsers ask Whorl for logins, and takes it back.
package struct BrowserChange {
  private let dialogue: any ChangeDialogue

  package init(_ dialogue: any ChangeDialogue) { self.dialogue = dialogue }

  /// - Parameters:
  ///   - program: what the browsers start.
  ///   - assent: the option that answers in advance that another program gives way.
  /// - Throws: without a browser.
  package func enable(_ program: String, assent: String) async throws(Failure) {
    let manifests = try BrowserManifest.all()
    let sandboxed = try BrowserManifest.sandboxed()
    guard !(manifests.isEmpty && sandboxed.isEmpty) else {
      throw Failure(
        .notFound, "no browser was found that can ask for logins",
        advice: "start Firefox or Chromium once, and try again")
    }
    let others = manifests.filter { $0.state == .other }
    if !others.isEmpty {
      dialogue.tell(
        .hint("Another program gives logins to these browsers, such as KeePassXC:", others.map(\.browser.title)))
      try await dialogue.confirm("Shall they ask Whorl in its place?", assent: assent)
    }
    for manifest in manifests {
      let had = manifest.state
      try manifest.enable(program)
      dialogue.tell(.done("\(manifest.browser.title) asks Whorl for logins: wrote \(manifest.path)"))
      if had == .other {
        dialogue.tell(.done("What was there is kept as \(manifest.kept); 'whorl browser disable' puts it back."))
      }
    }
    for (browser, folder) in sandboxed {
      dialogue.tell(
        .problem(
          "\(browser.title) in \(folder) is in a sandbox (Flatpak or Snap) and can start no program of this computer; "
            + "nothing was written for it."))
    }
    dialogue.tell(.hint("Restart a browser that is open, and connect it in the extension KeePassXC-Browser."))
  }

  /// Returns the browsers that asked Whorl.
  package func disable() throws(Failure) -> [Browser] {
    var changed: [Browser] = []
    for manifest in try BrowserManifest.all() {
      let hadKept = manifest.hasKept
      guard try manifest.disable() else {
        if manifest.state == .other, manifest.hasKept {
          dialogue.tell(
            .problem(
              "\(manifest.path) was written by another program since; what was there before is in \(manifest.kept)."))
        }
        continue
      }
      changed.append(manifest.browser)
      dialogue.tell(
        .done(
          hadKept
            ? "\(manifest.browser.title) asks the program that it asked before."
            : "\(manifest.browser.title) does not ask Whorl any more."))
    }
    if changed.isEmpty { dialogue.tell(.done("No browser asks Whorl.")) }
    return changed
  }
}
