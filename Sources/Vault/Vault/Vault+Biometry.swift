import Fingerprint
import SecretModel

extension Vault {
  /// What can be said of fingers and passcode without asking anybody. Lists readers; opens none but fprintd's, whose
  /// fingers are looked at.
  package func biometry() async throws(VaultError) -> Biometry {
    let (known, lockedOut, passcodeSet) = try store.read { moment in
      (try moment.enrolledSets(), moment.authority.lockout.lockedOut, try moment.slot(.passcode) != nil)
    }
    var biometry = Biometry(
      hasReader: false, problem: lockedOut ? .biometryLockout : nil, state: nil, passcodeSet: passcodeSet)
    do throws(VaultError) {
      let reader = try await readers.attached()
      biometry.hasReader = true
      biometry.state = known.state(on: reader)
      if reader.printKeeper == .service {
        // Followed first: the fingers may have been changed there.
        biometry.state = nil
        _ = try await fprintd.look()
        biometry.state = try sets.enrolled().state(on: reader)
      } else {
        _ = try sets.enrolled(on: reader)
      }
    } catch {
      biometry.problem = error
      if !biometry.hasReader {
        // There was one when the fingers were enrolled.
        if case .reader(.absent) = error, !known.isEmpty { biometry.problem = .reader(.removed) }
        // Of fprintd's fingers nobody knows now.
        if known.count == 1, known[0].set.reader.adapter == .libfprint { biometry.state = known[0].digest }
      } else if known.count == 1, known[0].set.reader.adapter == .libfprint {
        biometry.state = known[0].digest
      }
    }
    return biometry
  }

  /// The digest of the enrolment set of the reader attached, or of the only one there is; nil where no finger is
  /// enrolled.
  package func enrolmentState() async throws(VaultError) -> [UInt8]? {
    var enrolled = try sets.enrolled()
    if enrolled.contains(where: { $0.set.reader.adapter == .fprintd }),
      try await readers.attached().printKeeper == .service
    {
      _ = try await fprintd.look()
      enrolled = try sets.enrolled()
    }
    guard enrolled.count > 1 else { return enrolled.first?.digest }
    return enrolled.state(on: try await readers.attached())
  }
}

extension [StoredSet] {
  /// The digest of the only set, or of that of a reader where there are several.
  fileprivate func state(on reader: ReaderDescription) -> [UInt8]? {
    guard count > 1 else { return first?.digest }
    return first { $0.set.isOn(reader) }?.digest
  }
}
