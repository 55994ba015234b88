internal import ArgumentParser
internal import CAdwaita
internal import Primitives
internal import Processes
internal import Whorl

/// The window of Whorl.
@main
struct WhorlWindow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl-gtk",
    abstract: "A window with your secrets, passkeys and keys.",
    discussion: """
      It is a client of the vault like the command line, and shows a secret only after the touch or the passcode that \
      the secret needs.
      """)

  @Option(help: "The page to show: \(PageName.spoken).")
  var page: String?

  @Option(help: ArgumentHelp("The directory of a private store, as for whorl.", valueName: "dir"))
  var store: String?

  @Option(help: ArgumentHelp("The reader of a private store, as for whorl.", valueName: "selection"))
  var reader: String?

  @Option(help: ArgumentHelp("The configuration file, as for whorl.", valueName: "file"))
  var config: String?

  @Flag(name: .customLong("gapplication-service"), help: "Show no window before a program of the session asks for it.")
  var isService = false

  func validate() throws {
    guard page.map({ PageName(rawValue: $0) != nil }) ?? true else {
      throw ValidationError("--page is \(PageName.spoken).")
    }
  }

  func run() throws {
    Text.begin()
    _ = Hardening()
    // Before the first thread. GTK would leave behind what is unfinished, such as a copy on which a password is tried.
    let endings = HeldEndingSignals()
    Task.detached(executorPreference: BackgroundThread()) {
      let signal = endings.wait().number
      Unfinished.ofThisProgram.undoAll()
      EndingSignals.die(of: signal)
    }
    let (page, place) = (page, ShownStore.Place(directory: store, reader: reader, configuration: config))
    let isOwnStore = store != nil || config != nil
    let kind: WindowApplication.Kind = isService ? .service : isOwnStore ? .own : .shared
    // ArgumentParser calls this on the main thread.
    let status = MainActor.assumeIsolated {
      MainLoop.serveMainActor()
      return WindowApplication(place, kind).run(page)
    }
    Unfinished.ofThisProgram.undoAll()
    throw ExitCode(status)
  }
}

/// The application on the session's bus. A second start shows the window of the first.
final class WindowApplication {
  enum Kind {
    /// Shows its window.
    case shared
    /// The message bus has started it. It shows its window when it is asked to.
    case service
    /// Shows a store that was named, and shares nothing with others.
    case own
  }

  /// How long a service waits for calls, in milliseconds. While somebody types a search there is one after the other.
  private static let patience: UInt32 = 60_000

  private let application: Widget
  private let place: ShownStore.Place
  private var window: MainWindow?
  private var search: SearchProvider?

  init(_ place: ShownStore.Place, _ kind: Kind) {
    self.place = place
    let flags =
      switch kind {
      case .shared: whorl_application_default
      case .service: whorl_application_is_service
      case .own: whorl_application_non_unique
      }
    // adw_application_new: transfer full, kept until the program ends.
    application = Widget(UnsafeMutableRawPointer(adw_application_new("org.whorl.Whorl", flags)))
    application.on("activate") { [self] in shownWindow().present() }
    let quit = Widget(g_simple_action_new("quit", nil))
    quit.on("activate") { [self] in
      if let window { gtk_window_close(window.root.typed()) }
    }
    let about = Widget(g_simple_action_new("about", nil))
    about.on("activate") { [self] in showAbout() }
    let leave = Widget(g_simple_action_new("leave", nil))
    leave.on("activate") { [self] in shownWindow().leaveWhorl() }
    let pages = PageName.allCases.map { page in
      // The desktop file names these.
      let action = Widget(g_simple_action_new(page.rawValue, nil))
      action.on("activate") { [self] in
        let window = shownWindow()
        window.show(page)
        window.present()
      }
      return action
    }
    for action in [quit, about, leave] + pages { g_action_map_add_action(application.opaque, action.opaque) }
    setKeys(["<Control>q", "<Control>w"], for: "app.quit")
    if kind == .service { g_application_set_inactivity_timeout(application.typed(), Self.patience) }
    if kind != .own {
      search = SearchProvider(place, of: application) { [self] choice in
        let window = shownWindow()
        window.show(choice)
        window.present()
      }
    }
  }

  /// Returns the exit status.
  func run(_ page: String?) -> Int32 {
    if let page {
      var error: UnsafeMutablePointer<GError>?
      guard g_application_register(application.typed(), nil, &error) != 0 else { return 1 }
      // Goes to the first instance if this is not it.
      g_action_group_activate_action(application.opaque, page, nil)
    }
    // Of a second start: waits until the first instance has its calls.
    return g_application_run(application.typed(), 0, nil)
  }

  private func shownWindow() -> MainWindow {
    if let window { return window }
    // From here on the program ends with its window.
    g_application_set_inactivity_timeout(application.typed(), 0)
    let window = MainWindow(in: application, place)
    self.window = window
    window.root.on("destroy") { [self] in self.window = nil }
    window.open()
    return window
  }

  private func setKeys(_ keys: [String], for action: String) {
    var pointers: [UnsafePointer<CChar>?] = keys.map { UnsafePointer(strdup($0)) }
    defer { for pointer in pointers { free(UnsafeMutableRawPointer(mutating: pointer)) } }
    pointers.append(nil)
    // Copies the array.
    gtk_application_set_accels_for_action(application.typed(), action, &pointers)
  }

  private func showAbout() {
    guard let window else { return }
    // adw_about_window_new: floating, and owned by GTK as every window.
    let about = Widget(UnsafeMutableRawPointer(adw_about_window_new()))
    about.set("application-name", "Whorl")
    about.set("application-icon", "org.whorl.Whorl")
    about.set("comments", Text.of("Secrets that open after a touch."))
    about.set("transient-for", window.root)
    gtk_window_present(about.typed())
  }
}
