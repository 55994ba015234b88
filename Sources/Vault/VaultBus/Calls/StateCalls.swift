internal import Primitives
internal import ReaderBus
internal import SDBus
internal import SecretModel

/// Calls about fingers and readers.
extension Calls {
  static let fingers = [
    biometry.call, presentSets.call, enroll.call, unenroll.call, losses.call, useAdapter.call, readers.call,
  ]

  static let biometry = Call("Biometry") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.biometry()
  }
  static let presentSets = Call("PresentSets") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.presentSets()
  }
  static let enroll = Call("Enroll", isChange: true) {
    (vault: isolated Served, finger: Finger, asking: Asking) async throws(VaultError) in
    try await vault.service.enroll(finger, asking)
  }
  static let unenroll = Call("Unenroll", isChange: true) {
    (vault: isolated Served, finger: OptionalWord<Finger>, asking: Asking) async throws(VaultError) in
    try await vault.service.unenroll(finger.value, asking)
  }
  static let losses = Call("Losses") { (vault: isolated Served, change: LosingChange) async throws(VaultError) in
    try await vault.service.losses(change)
  }
  static let useAdapter = Call("UseAdapter", isChange: true) {
    (vault: isolated Served, adapter: OptionalWord<ReaderAdapter>, asking: Asking) async throws(VaultError) in
    try await vault.service.useAdapter(adapter.value, asking)
  }
  static let readers = Call("Readers") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.readers()
  }
}

extension RemoteVault {
  func biometry() async throws(VaultError) -> Biometry { try await wire(Calls.biometry) }

  func presentSets() async throws(VaultError) -> [SetStatus] { try await wire(Calls.presentSets) }

  func enroll(_ finger: Finger, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await wire(Calls.enroll, finger, asking)
  }

  func unenroll(_ finger: Finger?, _ asking: Asking) async throws(VaultError) -> SetChange {
    try await wire(Calls.unenroll, OptionalWord(finger), asking)
  }

  func losses(_ change: LosingChange) async throws(VaultError) -> [ItemName] { try await wire(Calls.losses, change) }

  func useAdapter(_ adapter: ReaderAdapter?, _ asking: Asking) async throws(VaultError) {
    try await wire(Calls.useAdapter, OptionalWord(adapter), asking)
  }

  func readers() async throws(VaultError) -> ReaderList { try await wire(Calls.readers) }
}

/// Calls about the state of the store and of what is around it.
extension Calls {
  static let state = [status.call, openClasses.call, unlockChange.call, surroundings.call, problems.call, log.call]

  static let status = Call("Status") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.status()
  }
  static let openClasses = Call("OpenClasses") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.openClasses()
  }
  static let unlockChange = Call("UnlockChange") { (vault: isolated Served, isOpen: Bool) async throws(VaultError) in
    try await vault.service.unlockChange(from: isOpen)
  }
  static let surroundings = Call("Surroundings") {
    (vault: isolated Served, known: KnownSurroundings) async throws(VaultError) in
    try await vault.service.surroundings(otherThan: known.known)
  }
  static let problems = Call("Problems") { (vault: isolated Served) async throws(VaultError) in
    try await vault.service.problems()
  }
  static let log = Call("Log") { (vault: isolated Served, search: AuditSearch) async throws(VaultError) in
    try await vault.service.log(search)
  }
}

extension RemoteVault {
  func status() async throws(VaultError) -> VaultStatus { try await wire(Calls.status) }

  func openClasses() async throws(VaultError) -> [Accessibility] { try await wire(Calls.openClasses) }

  func unlockChange(from isOpen: Bool) async throws(VaultError) -> Bool { try await wire(Calls.unlockChange, isOpen) }

  func surroundings(otherThan known: Surroundings?) async throws(VaultError) -> Surroundings {
    try await wire(Calls.surroundings, KnownSurroundings(known))
  }

  func problems() async throws(VaultError) -> [VaultError] { try await wire(Calls.problems) }

  func log(_ search: AuditSearch) async throws(VaultError) -> [AuditEntry] { try await wire(Calls.log, search) }
}
