internal import CAdwaita
internal import SecureMemory

/// A window that shows a new recovery key, and closes when the person has written it down, or gives up.
final class RecoveryKeyWindow {
  private let interface = Interface(PackageResources.recovery_ui)
  private let check: RecoveryKeyCheck

  init(over parent: Widget) {
    check = RecoveryKeyCheck(in: interface)
    let window = interface["window"]
    window.set("transient-for", parent)
    interface["cancel"].on("clicked") { [check] in check.leave() }
    window.onAnswered("close-request") { [check] in
      check.leave()
      return true
    }
  }

  func isWritten(_ key: SharedSecret) async -> Bool {
    gtk_window_present(interface["window"].typed())
    let isWritten = await check.isWritten(key)
    gtk_window_destroy(interface["window"].typed())
    return isWritten
  }
}
