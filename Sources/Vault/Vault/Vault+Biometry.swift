import Fingerprint

extension Vault {
  /// Why no finger can be asked for now; nil when one can. Lists readers, and opens none.
  package func biometryProblem() async -> VaultError? {
    let enrolled: Bool
    let lockedOut: Bool
    do {
      enrolled = try !enrolledSets().isEmpty
      lockedOut = try store.read { _, authority in authority.lockout.lockedOut }
    } catch {
      return error
    }
    do {
      let reader = try await attachedReader()
      if reader.identity.isFprintd { _ = try await fprintdSet() } else { _ = try self.enrolled(on: reader) }
    } catch .reader(.absent) where enrolled {
      // There was one when the fingers were enrolled.
      return .reader(.removed)
    } catch {
      return error
    }
    return lockedOut ? .biometryLockout : nil
  }

  /// What can be said of fingers and passcode without asking anybody.
  package func biometry() async throws(VaultError) -> Biometry {
    let passcodeSet = try passcodeIsSet()
    return Biometry(
      hasReader: await hasReader(), problem: await biometryProblem(), state: try? await enrolmentState(),
      passcodeSet: passcodeSet)
  }

  /// Whether a reader is attached.
  package func hasReader() async -> Bool {
    (try? await attachedReader()) != nil
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
    let reader = try await attachedReader()
    return sets.first { $0.set.reader == reader.identity && $0.set.nature == reader.nature }?.digest
  }
}
