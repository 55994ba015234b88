internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// The store that a window shows: its items, what the window asks and says about them, and the clipboard.
final class ShownStore {
  /// How to open and make the store.
  struct Place: Sendable {
    var directory: String?
    var reader: String?
    var configuration: String?
  }

  /// What a call of ``open()`` has found.
  enum Opening {
    case open, closed, missing
    case problem(VaultError)
  }

  /// How long a message is shown, and with it how long the removal of an item can be undone. GTK's own 5 seconds are too
  /// short for somebody who has it read out.
  private static let messageSeconds = 10

  /// Whether the items are being read now.
  private enum Reading {
    case none, underway
    /// And they may have changed since that began, so they are read once more.
    case outdated
  }

  let place: Place
  /// The window, over which prompts and further windows are.
  let window: Widget
  private let application: Widget
  private let toasts: Widget
  let prompts: PromptWindow
  private(set) var store: SecretStore?
  private(set) var list = SecretList()
  /// How the store shares with other computers; nil before it was asked.
  private(set) var sharing: SyncStatus?
  /// Called when there is another list.
  var listChanged: () -> Void = {}
  /// Called when the items cannot be read any more.
  var failed: (VaultError) -> Void = { _ in }
  /// Items that the person has removed, while that can be undone.
  private var removed: Set<ItemID> = []
  private var reading = Reading.none
  /// A secret that is to be copied, and for how long.
  private var toCopy: (secret: SharedSecret, seconds: Int)?

  init(at place: Place, in window: Widget, toasts: Widget, of application: Widget) {
    (self.place, self.window, self.toasts, self.application) = (place, window, toasts, application)
    prompts = PromptWindow(over: window)
    window.on("notify::is-active") { [weak self] in self?.copyIfActive() }
  }

  /// A prompt for the context of one request.
  var prompt: any AuthenticationPrompt { prompts.makePrompt() }

  /// Has the person type a password that is not the store's; nil if they cancel. See ``PromptWindow``.
  func typed(_ what: String, told: String, isNew: Bool, isOptional: Bool) async -> SharedSecret? {
    await prompts.typed(what, told: told, isNew: isNew, isOptional: isOptional)
  }

  // MARK: Opening

  func open() async -> Opening {
    let place = place
    do throws(VaultError) {
      let (store, isClosed, items, sharing) = try await VaultWork.run { () async throws(VaultError) in
        let store = try SecretStore.open(
          at: place.directory, reader: place.reader, configuration: place.configuration)
        let isClosed = try await store.awaitsFirstUnlock()
        return (
          store, isClosed, try await store.items(.everything),
          try await store.call { service throws(VaultError) in try await service.sync.status() }
        )
      }
      (self.store, self.sharing) = (store, sharing)
      show(items)
      return isClosed ? .closed : .open
    } catch .storeNotFound {
      return .missing
    } catch {
      return .problem(error)
    }
  }

  /// Makes a request that asks nobody.
  func call<Value: Sendable>(
    _ request: @escaping SentVaultRequest<Value>
  ) async throws(VaultError) -> Value {
    guard let store else { throw .cancelled }
    return try await VaultWork.run { () async throws(VaultError) in try await store.call(request) }
  }

  /// Makes a request for which the person may be asked, in the window.
  ///
  /// - Parameter allowsGuessable: whether a passcode that can be guessed in a day is taken, because the person insists.
  func ask<Value: Sendable>(
    for reason: String? = nil, allowsGuessable: Bool = false, _ request: @escaping SentAskingRequest<Value>
  ) async throws(VaultError) -> Value {
    guard let store else { throw .cancelled }
    let prompt = prompt
    return try await VaultWork.run { () async throws(VaultError) in
      let context = store.makeContext(prompt: prompt)
      context.options.offersFallbackAtOnce = true
      context.options.allowsGuessablePasscode = allowsGuessable
      defer { context.invalidate() }
      return try await context.perform(reason, request)
    }
  }

  /// Asks for the passcode, as the first unlock. Returns whether the store is open then.
  func unlock() async -> Bool {
    guard let store else { return false }
    let prompt = prompt
    do throws(VaultError) {
      try await VaultWork.run { () async throws(VaultError) in
        let context = store.makeContext(prompt: prompt)
        defer { context.invalidate() }
        try await store.unlock(reason: Text.of("open your secrets"), using: context)
      }
      return true
    } catch {
      say(error)
      return false
    }
  }

  /// Ends the connection to the store, which is about to be removed.
  func close() async {
    guard let closing = store else { return }
    store = nil
    await VaultWork.run { await closing.close() }
  }

  // MARK: Items

  private func show(_ items: [Item]) {
    list = SecretList(items.filter { !removed.contains($0.id) })
    listChanged()
    // Give back what the answer and the drawing of the list needed for a moment, which malloc keeps.
    _ = MainLoop.after(seconds: 1) { malloc_trim(0) }
  }

  /// Reads the items again.
  func reload() {
    guard let store else { return }
    guard reading == .none else { return reading = .outdated }
    reading = .underway
    MainLoop.begin {
      do throws(VaultError) {
        let (items, sharing) = try await VaultWork.run { () async throws(VaultError) in
          (
            try await store.items(.everything),
            try await store.call { service throws(VaultError) in try await service.sync.status() }
          )
        }
        self.sharing = sharing
        show(items)
      } catch {
        failed(error)
      }
      let isOutdated = reading == .outdated
      reading = .none
      if isOutdated { reload() }
    }
  }

  /// Whether a version of the entry has come from another computer and cannot be stored yet.
  func isWaiting(_ entry: SecretEntry) -> Bool {
    guard let waiting = sharing?.waiting, !waiting.isEmpty, let name = entry.item.name else { return false }
    return waiting.contains { $0.item == name }
  }

  /// Takes an entry off the list, and removes its item when the person can no longer undo that.
  func remove(_ entry: SecretEntry) {
    removed.insert(entry.id)
    show(list.entries.map(\.item))
    let text = Text.of("“{name}” removed", ["name": PromptLabel.text(entry.title)])
    // adw_toast_new: transfer full, and the overlay takes it over.
    let toast = Widget(adw_toast_new(text))
    toast.set("button-label", Text.of("Undo"))
    toast.set("timeout", Self.messageSeconds)
    // The item may be removed once more before this message has left.
    var isUndone = false
    toast.on("button-clicked") { [self] in
      isUndone = true
      removed.remove(entry.id)
      reload()
    }
    toast.on("dismissed") { [self] in if !isUndone, removed.contains(entry.id) { delete([entry.id]) } }
    adw_toast_overlay_add_toast(toasts.opaque, toast.opaque)
  }

  /// Removes what can still be undone: the window closes.
  func finishRemovals() {
    if !removed.isEmpty { delete(Array(removed)) }
  }

  private func delete(_ ids: [ItemID]) {
    guard let store else { return }
    // The program ends when the items are removed, and not before.
    g_application_hold(application.typed())
    MainLoop.begin {
      do throws(VaultError) {
        try await VaultWork.run { () async throws(VaultError) in try await store.delete(ids) }
      } catch {
        say(error)
      }
      removed.subtract(ids)
      reload()
      g_application_release(application.typed())
    }
  }

  // MARK: Messages and the clipboard

  /// Shows an error for a moment, unless the person has caused it by cancelling.
  func say(_ error: VaultError) {
    if !error.isCancel { say(error.sentence, isUrgent: true) }
  }

  func say(_ failure: Failure) {
    if failure.cause?.isCancel != true { say(failure.shown, isUrgent: true) }
  }

  /// - Parameter isUrgent: whether it is shown before messages that wait.
  func say(_ text: String, isUrgent: Bool = false) {
    let toast = Widget(adw_toast_new(text))
    toast.set("timeout", Self.messageSeconds)
    if isUrgent { adw_toast_set_priority(toast.opaque, ADW_TOAST_PRIORITY_HIGH) }
    adw_toast_overlay_add_toast(toasts.opaque, toast.opaque)
  }

  /// Puts a text that is not secret into the clipboard.
  func copy(_ text: String, saying words: String) {
    // gtk_widget_get_clipboard: transfer none.
    gdk_clipboard_set_text(gtk_widget_get_clipboard(window.typed()), text)
    say(words)
  }

  /// Puts a secret into the clipboard, from which programs get it for some seconds, also if the window is closed meanwhile. On
  /// Wayland it waits until the window has the keyboard: GNOME refuses what is copied before.
  func copy(_ secret: borrowing SecretBytes, forSeconds seconds: Int) {
    let secret = SharedSecret(secret.copy())
    toCopy = (secret, seconds)
    copyIfActive()
    guard toCopy != nil else { return }
    _ = MainLoop.after(seconds: seconds) { [weak self] in
      if self?.toCopy?.secret === secret { self?.toCopy = nil }
    }
  }

  private func copyIfActive() {
    guard let (secret, seconds) = toCopy, window.bool("is-active") || !window.isOnWayland else { return }
    toCopy = nil
    g_application_hold(application.typed())
    // gtk_widget_get_clipboard: transfer none.
    CopiedSecret.put(secret, into: Widget(gtk_widget_get_clipboard(window.typed())), seconds: seconds) {
      [application] in g_application_release(application.typed())
    }
    say(Text.of("Copied; the clipboard is emptied in {seconds} seconds", ["seconds": "\(seconds)"]))
  }
}
