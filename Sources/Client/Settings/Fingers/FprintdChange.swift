package import Primitives
package import SecretModel
internal import Whorl

/// A change of the fingers in fprintd, which asks for the login password first unless it was given recently in this session.
package struct FprintdChange: Sendable {
  private let fingers: FprintdFingers
  private let reader: ReaderDescription
  /// Whether the system asks for the login password.
  package let asksForPassword: Bool

  /// - Parameter reader: that of ``FingerLook/readerOfFprintd``.
  /// - Throws: in a session that fprintd would refuse. `change` names the change: "enrol a finger".
  package init(
    of reader: ReaderDescription, to change: String, _ context: any SettingsContext
  ) throws(Failure) {
    let permission = EnrolmentPermission.ofThisProgram()
    guard permission != .refused else {
      throw Failure(.refused, "this session may not \(change)", advice: FprintdFingers.advice)
    }
    (fingers, self.reader, asksForPassword) = (FprintdFingers(context), reader, permission == .withPassword)
  }

  /// Enrols a finger.
  ///
  /// - Parameter observe: told what the reader asks for. The first event comes after the system's question for the password.
  package func enroll(
    _ finger: Finger, observe: @escaping @Sendable (ScanEvent, TouchRequest) -> Void
  ) async throws(Failure) {
    try await changing { reader, description throws(ReaderError) in
      let request = TouchRequest(purpose: .enroll(finger), reader: description, passcodeInstead: false)
      _ = try await reader.enroll(as: finger) { observe($0, request) }
    }
  }

  /// Deletes a finger, or with nil all of them. Does nothing for one that fprintd does not have.
  package func delete(_ finger: Finger?) async throws(Failure) {
    try await changing { reader, _ throws(ReaderError) in
      let templates = try await reader.storedPrints(knowing: []).unknown
      for template in templates where finger == nil || FprintdPrint(template)?.finger == finger {
        do throws(ReaderError) {
          try await reader.delete(template)
        } catch {
          guard error == .deletesOnlyAllFingers, finger == nil else { throw error }
          return try await reader.clearStorage()
        }
      }
    }
  }

  private func changing(
    _ change: (any FingerprintReader, ReaderDescription) async throws(ReaderError) -> Void
  ) async throws(Failure) {
    do throws(Failure) {
      try await fingers.opened(reader.id, change)
    } catch {
      // fprintd gives the same error for a wrong password as for a session that may not do this at all.
      guard asksForPassword, case .reader(.fprintdRefused)? = error.cause else { throw error }
      throw Failure(
        .refused, "the system was not given your login password", name: "LAError.userCancel",
        advice: "run it again, and type the password that you log in with")
    }
  }
}
