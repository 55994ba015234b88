// Presence: asks the owner, and alone makes evidence that a person was there. Begin with `OwnerPresence`; an `Authorizer`
// finds what a context still needs (`Need`), an `Authenticator` asks for it at the `ReaderDesk`, and the answer is
// `Evidence`.

package import Primitives
@_exported public import SecretModel
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

/// What a person answers to the prompts of a context.
extension OwnerPresence {
  /// Passes a response of the person to a context; does nothing for a context that has ended.
  package func respond(_ handle: ContextHandle, _ response: consuming ContextResponse, of client: Client) async {
    guard let context = contexts.context(handle, of: client) else { return }
    switch consume response {
    case .secret(let question, let secret): context.answer(question, with: SharedSecret(secret))
    case .decline(let question): context.answer(question, with: nil)
    case .ready(let question): context.promptStands(for: question)
    case .reject(let notice): await reject(notice, for: context)
    case .fallback: context.chooseFallback()
    case .cancel: context.cancel()
    }
  }

  /// Ends the call that has the reader, if the notice with this number reported it to this context.
  private func reject(_ notice: Int, for context: Context) async {
    guard let call = context.ahead.call(toldBy: notice), let own = context.call else { return }
    // Do this before the reader is free, or the next waiting request would get it.
    await readers.desk.advance(own)
    guard let other = contexts.context(running: call) else { return }
    other.events.yield(.notice(.rejected(by: context.client.caller.label)))
    other.cancel()
  }
}

/// The choice between fprintd and libfprint for a store whose settings leave it open.
extension OwnerPresence {
  /// Changes the adapter that `auto` means in this store. Asks for the passcode (the recovery key if none is set),
  /// since with fprintd, polkit decides who may enrol fingers. The adapter is recorded with the first finger and
  /// changed only by this call, so that items stay usable when fingers are enrolled in the desktop's settings later, or
  /// fprintd is installed or removed.
  ///
  /// Changes no set, and bound items stay with their reader. The exception is a configuration that replaces the
  /// machine's own fprintd: then that fprintd's current fingers are taken over.
  ///
  /// - Parameter adapter: nil drops the recorded adapter: the next enrolment records one.
  package func use(_ adapter: ReaderAdapter?, _ context: Context) async throws(VaultError) {
    try await passcodes.authorizeChange(context)
    try passcodes.store.commit { change in change.authority.adapter = adapter }
    if adapter?.sharesFingers == true { try await fprintd.accept(context) }
  }
}

/// Waits for changes that affect how the owner of a store can authenticate. Polls nothing, and watches the devices only
/// while it is referenced.
package final class SurroundingsWatch: Sendable {
  private let classKeys: ClassKeys
  private let devices: RunningDeviceWatch
  private let gate: any SessionGate

  init(_ readers: ReaderAccess) {
    classKeys = readers.store.classKeys
    devices = readers.desk.devices.start()
    gate = readers.gate
  }

  /// The surroundings, as soon as they differ from the known ones.
  package func surroundings(
    otherThan known: Surroundings?, for caller: Caller
  ) async throws(VaultError) -> Surroundings {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let (changes, plugs, locks) = (classKeys.changes.value, devices.count.value, classKeys.closings)
      let refusal = await gate.sessionRefusal(for: caller, at: .underLid)
      let now = Surroundings(changes: changes + plugs, locks: locks, refusal: refusal)
      guard now == known else { return now }
      await withTaskGroup { [classKeys, devices, gate] group in
        group.addTask { await classKeys.changes.reaches(changes + 1) }
        group.addTask { await devices.count.reaches(plugs + 1) }
        group.addTask { await gate.sessionChange(from: refusal, for: caller) }
        await group.next()
        group.cancelAll()
      }
    }
  }
}
