package import Fingerprint
package import VaultStore

/// Authenticates the owner of a store: with readers and enrolled fingers, the passcode and the recovery key, each in
/// the context of a request.
package struct OwnerPresence {
  package let contexts = ContextTable()
  package let readers: ReaderAccess
  package let fprintd: FprintdSets
  package let sets: EnrolmentSets
  package let fingers: CurrentFingers
  package let passcodes: Passcodes
  package let passcodeChanges: PasscodeChanges
  package let restores: Restores
  package let enrolment: FingerEnrolment
  package let authorizer: Authorizer

  /// - Parameters:
  ///   - gate: refuses touches if the caller's login session does not allow them.
  ///   - readerUser: the user whose fingers fprintd is asked for; nil: no reader is opened.
  ///   - touchClock: the clock for the times of touches.
  package init(
    of store: Store, desk: ReaderDesk, gate: any SessionGate, arming: ArmingPolicy, readerUser: ReaderUser?,
    scrypt: ScryptQueue, passcodeRule: PasscodeRule, touchClock: @escaping @Sendable () -> UInt64
  ) {
    readers = ReaderAccess(store: store, desk: desk, gate: gate, arming: arming, user: readerUser)
    sets = EnrolmentSets(store: store)
    fprintd = FprintdSets(readers: readers, sets: sets)
    fingers = CurrentFingers(readers: readers, sets: sets, fprintd: fprintd)
    passcodes = Passcodes(store: store, scrypt: scrypt, rule: passcodeRule)
    passcodeChanges = PasscodeChanges(passcodes: passcodes)
    restores = Restores(passcodes: passcodes)
    enrolment = FingerEnrolment(passcodes: passcodes, readers: readers, sets: sets, fprintd: fprintd)
    authorizer = Authorizer(
      authenticator: Authenticator(readers: readers, sets: sets, fprintd: fprintd, touchClock: touchClock),
      passcodes: passcodes)
  }

  /// Starts to watch for changes that affect how the owner can authenticate.
  package func watch() -> SurroundingsWatch { SurroundingsWatch(readers) }
}
