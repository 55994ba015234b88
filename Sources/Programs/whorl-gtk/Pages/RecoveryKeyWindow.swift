internal import CAdwaita
internal import Primitives

/// A window that shows a new recovery key, and closes when the person has written it down, or gives up.
final class RecoveryKeyWindow {
  private let interface = Interface(PackageResources.recovery_ui)
  private let check: RecoveryKeyCheck
  private let parent: Widget

  init(over parent: Widget) {
    check = RecoveryKeyCheck(in: interface)
    self.parent = parent
  }

  func isWritten(_ key: SharedSecret) async -> Bool {
    interface.present(over: parent) { [check] in check.leave() }
    let isWritten = await check.isWritten(key)
    interface.close()
    return isWritten
  }
}
