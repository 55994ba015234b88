import Primitives
package import SecretModel
package import VaultStore

/// The fingers that are enrolled now. Shows no prompt.
package struct CurrentFingers {
  let readers: ReaderAccess
  let sets: EnrolmentSets
  let fprintd: FprintdSets

  private var store: Store { readers.store }

  /// The state of fingers and passcode. Lists readers; opens only fprintd's, to read its fingers.
  ///
  /// - Parameter caller: the program that would ask for a finger.
  package func biometry(for caller: Caller) async throws(VaultError) -> Biometry {
    let (known, lockedOut, passcodeSet) = try store.read { snapshot in
      (try snapshot.enrolledSets(), snapshot.authority.lockout.lockedOut, try snapshot.slot(.passcode) != nil)
    }
    var biometry = Biometry(
      hasReader: false, problem: lockedOut ? .biometryLockout : nil, state: nil, passcodeSet: passcodeSet)
    do throws(VaultError) {
      let (reader, place) = try await readers.attachedAndPlace()
      biometry.hasReader = true
      let refusal = await readers.gate.sessionRefusal(for: caller, at: place)
      biometry.isOutOfReach = refusal == .remote || refusal == .lidClosed
      biometry.state = known.state(on: reader)
      if reader.sharesFingers {
        // Follow fprintd first: the fingers may have been changed there.
        biometry.state = nil
        _ = try await fprintd.look()
        biometry.state = try sets.enrolled().state(on: reader)
      } else {
        _ = try sets.enrolled(on: reader)
      }
      if let refusal, biometry.isOutOfReach, biometry.problem == nil { biometry.problem = .sessionRefused(refusal) }
    } catch {
      biometry.problem = error
      if !biometry.hasReader {
        // The store has fingers, so there was a reader before.
        if case .reader(.absent) = error, !known.isEmpty { biometry.problem = .reader(.removed) }
        // Only for libfprint: fprintd's fingers cannot be known without its reader.
        if known.count == 1, !known[0].set.reader.adapter.sharesFingers { biometry.state = known[0].digest }
      } else if known.count == 1, !known[0].set.reader.adapter.sharesFingers {
        biometry.state = known[0].digest
      }
    }
    return biometry
  }

  /// The sets of the store with the fingers that its reader has at this moment. Changes nothing.
  package func presentSets() async throws(VaultError) -> [SetStatus] {
    var statuses = try store.read { snapshot in try snapshot.setStatuses() }
    guard let (stored, fingers) = try await fprintd.present(),
      let index = statuses.firstIndex(where: { $0.digest == stored.digest })
    else { return statuses }
    statuses[index].fingers = fingers
    return statuses
  }

  /// The items that die when a finger is enrolled on the attached reader, or removed from its set.
  package func boundItems() async throws(VaultError) -> [ItemName] {
    let verified = try sets.verified()
    guard let first = verified.first else { return [] }
    let changing: StoredSet?
    do throws(VaultError) {
      let attached = try await readers.attached()
      changing = verified.first { $0.set.isOn(attached) }
    } catch {
      // Removing a finger needs no reader if there is only one set.
      guard verified.count == 1 else { throw error }
      changing = first
    }
    guard let changing else { return [] }
    return try sets.bound(to: changing)
  }

  /// The set that a new item is bound to: the only one with fingers, or else that of the attached reader.
  package func setForBinding() async throws(VaultError) -> StoredSet {
    let enrolled = try sets.enrolled()
    if enrolled.count == 1, let only = enrolled.first, !only.set.reader.adapter.sharesFingers { return only }
    let wanted = try await attachedReaderOrNone(enrolled)
    if wanted?.sharesFingers == true, let set = try await fprintd.look() {
      try fprintd.requireDigests(of: set)
      return set
    }
    guard let wanted, let set = enrolled.first(where: { $0.set.isOn(wanted) }) else { throw .notEnrolled }
    return set
  }

  /// The attached reader. Nil if none is attached and no finger is enrolled.
  private func attachedReaderOrNone(_ sets: [StoredSet]) async throws(VaultError) -> ReaderDescription? {
    do throws(VaultError) {
      return try await readers.attached()
    } catch {
      if sets.isEmpty, error.meansNoReader { throw .notEnrolled }
      throw error
    }
  }

  package func anyEnrolled() async throws(VaultError) -> StoredSet {
    if let set = try sets.enrolled().first { return set }
    do throws(VaultError) {
      guard let set = try await fprintd.look() else { throw .notEnrolled }
      return set
    } catch {
      if error.meansNoReader { throw .notEnrolled }
      throw error
    }
  }
}

extension VaultError {
  /// Whether no reader can have fingers that this store does not know yet. An fprintd that cannot be reached may have
  /// some.
  fileprivate var meansNoReader: Bool {
    switch self {
    case .reader(.absent), .reader(.cannotStart): true
    default: false
    }
  }
}

extension [StoredSet] {
  /// The digest of the only set, or if there are several, of this reader's set.
  fileprivate func state(on reader: ReaderDescription) -> [UInt8]? {
    guard count > 1 else { return first?.digest }
    return first { $0.set.isOn(reader) }?.digest
  }
}
