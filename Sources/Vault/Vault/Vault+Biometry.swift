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
      let reader = try await attachedReader()
      biometry.hasReader = true
      biometry.state = known.state(on: reader)
      if reader.identity.isFprintd {
        // Followed first: the fingers may have been changed there.
        biometry.state = nil
        _ = try await fprintdSet()
        biometry.state = try enrolledSets().state(on: reader)
      } else {
        _ = try enrolled(on: reader)
      }
    } catch {
      biometry.problem = error
      if !biometry.hasReader {
        // There was one when the fingers were enrolled.
        if case .reader(.absent) = error, !known.isEmpty { biometry.problem = .reader(.removed) }
        // Of fprintd's fingers nobody knows now.
        if known.count == 1, !known[0].set.reader.isFprintd { biometry.state = known[0].digest }
      } else if known.count == 1, !known[0].set.reader.isFprintd {
        biometry.state = known[0].digest
      }
    }
    return biometry
  }

  /// The digest of the enrolment set of the reader attached, or of the only one there is; nil where no finger is
  /// enrolled.
  package func enrolmentState() async throws(VaultError) -> [UInt8]? {
    var sets = try enrolledSets()
    if sets.contains(where: \.set.reader.isFprintd), try await attachedReader().identity.isFprintd {
      _ = try await fprintdSet()
      sets = try enrolledSets()
    }
    guard sets.count > 1 else { return sets.first?.digest }
    return sets.state(on: try await attachedReader())
  }
}

extension [StoredSet] {
  /// The digest of the only set, or of that of a reader where there are several.
  fileprivate func state(on reader: ReaderDescription) -> [UInt8]? {
    guard count > 1 else { return first?.digest }
    return first { $0.set.reader == reader.identity && $0.set.nature == reader.nature }?.digest
  }
}
