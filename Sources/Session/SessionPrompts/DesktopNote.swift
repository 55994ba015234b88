/// A note to the person, which the desktop keeps in its list of notifications. Nothing is asked.
package enum DesktopNote {
  /// Shows it. Does nothing if no desktop shows notifications.
  ///
  /// - Parameter address: of the session's bus.
  package static func leave(_ title: String, _ text: String, onBus address: String) async {
    guard let notification = await Notification(onBus: address) else { return }
    await notification.leave(Notification.Content(title: title, text: text, image: nil, actions: []))
  }
}
