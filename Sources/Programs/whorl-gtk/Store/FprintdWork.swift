internal import Primitives
internal import SecretModel
internal import Settings
internal import Whorl

/// Changes the fingers of the desktop's settings (fprintd), which also open the login, as `whorl enroll` does there. The
/// system may ask for the login password in a dialog of its own.
enum FprintdWork {
  /// Enrols a finger, with its touches in the window.
  static func enroll(_ finger: Finger, on reader: ReaderDescription, _ shown: ShownStore) async throws(Failure) {
    guard let opened = shown.store else { return }
    let settings = try WindowSettings(shown.place, opened)
    let change = try await change(of: reader, to: "enrol a finger", settings)
    let words =
      change.asksForPassword
      ? Text.of("The system asks for your login password first.") : Text.of("The reader is being prepared.")
    let prompts = shown.prompts
    var isCancelled = false
    let isShown = prompts.beginEnrolment(words) {
      isCancelled = true
      settings.interrupt()
    }
    guard isShown else { throw .cancelled }
    defer { prompts.endEnrolment() }
    do throws(Failure) {
      try await VaultWork.runAside { () async throws(Failure) in
        try await change.enroll(finger) { event, request in Task { @MainActor in prompts.show(event, of: request) } }
      }
    } catch {
      throw isCancelled ? .cancelled : error
    }
    do throws(VaultError) {
      // The store takes the new finger.
      let problem = try await shown.call { service throws(VaultError) in try await service.biometry().problem }
      if let problem { throw problem }
    } catch {
      throw Failure(error)
    }
  }

  /// Deletes a finger there, and then in the store, after the passcode.
  static func delete(_ finger: Finger, on reader: ReaderDescription, _ shown: ShownStore) async throws(Failure) {
    guard let opened = shown.store else { return }
    let settings = try WindowSettings(shown.place, opened)
    let change = try await change(of: reader, to: "delete a finger", settings)
    // There first: the service may not delete there, and would adopt the finger again.
    try await VaultWork.runAside { () async throws(Failure) in try await change.delete(finger) }
    do throws(VaultError) {
      _ = try await shown.ask { service, asking throws(VaultError) in try await service.unenroll(finger, asking) }
    } catch {
      throw Failure(error)
    }
  }

  private static func change(
    of reader: ReaderDescription, to change: String, _ settings: WindowSettings
  ) async throws(Failure) -> FprintdChange {
    // It asks polkit, which may take a moment.
    try await VaultWork.runAside { () throws(Failure) in try FprintdChange(of: reader, to: change, settings) }
  }
}
