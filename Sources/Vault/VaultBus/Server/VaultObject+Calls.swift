internal import Fingerprint
internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Carries out each call: reads its arguments, passes them to the vault and returns the results.
extension VaultObject {
  /// - Parameters:
  ///   - values: the arguments after the call's number, already checked against the method's signature.
  ///   - memory: that of the call.
  ///   - unread: the memory of the answer.
  ///   - connection: where the events of a new context go.
  func perform(
    _ method: VaultInterface.Method, _ values: [BusValue], in memory: MemoryBudget.Share, _ unread: UnreadAnswer,
    over connection: BusConnection
  ) async throws(VaultError) -> [BusValue] {
    switch method {
    // Answered earlier.
    case .hello, .cancel: return []

    case .open:
      try await open(try StorePlace(bus: values[0]))
      return []
    case .create:
      let passcode = try SecretBytes.optional(sealed: values[1], limit: NewItem.secretLimit)
      let draft = try await vaults.create(
        try StorePlace(bus: values[0]), passcode: passcode, allowsGuessable: try Bool(bus: values[2]))
      return [draft.id.busValue, try draft.recoveryKey.sealed()]
    case .keep:
      try await vaults.keep(try StoreDraft.ID(bus: values[0]))
      return []
    case .rebuildDeviceKey:
      let recoveryKey = try SecretBytes(sealed: values[1], limit: NewItem.secretLimit)
      try await vaults.rebuildDeviceKey(at: try StorePlace(bus: values[0]), recoveryKey: recoveryKey)
      return []

    case .makeStoreOfBackup:
      let recoveryKey = try SecretBytes(sealed: values[2], limit: NewItem.secretLimit)
      try await vaults.makeStore(
        at: try StorePlace(bus: values[0]), ofBackup: values[1].asFile, recoveryKey: recoveryKey)
      return []

    case .openCopy:
      let opening = try SealedCopy.Opening(
        kind: values[1], secret: try SecretBytes(sealed: values[2], limit: NewItem.secretLimit))
      return [try await vaults.openCopy(try SealedCopy(bus: values[0]), with: opening).sealed()]
    case .walletKey:
      let password = try SecretBytes(sealed: values[0], limit: NewItem.secretLimit)
      guard let salt = values[1].asBytes else { throw VaultError.unreadable("a salt") }
      return [try await vaults.walletKey(from: password, salt: salt).sealed()]

    case .encryptFile:
      let recipient = try EncryptedFile.Recipient(publicKey: values[2], passphrase: values[3])
      try await vaults.encryptFile(from: values[0].asFile, to: values[1].asFile, for: recipient)
      return []
    case .fileKey:
      let opening = try EncryptedFile.Opening(
        kind: values[1], secret: try SecretBytes(sealed: values[2], limit: NewItem.secretLimit))
      return [try await vaults.fileKey(of: values[0].asFile, with: opening).sealed()]
    case .decryptFile:
      let key = try SecretBytes(sealed: values[1], limit: EncryptedFile.keyCount)
      try await vaults.decryptFile(values[0].asFile, with: key, to: values[2].asFile)
      return []
    case .makeKeyPair:
      let pair = try await vaults.makeKeyPair()
      return [try pair.privateKey.bytes.sealed(), .bytes(pair.publicKey.bytes)]

    case .lendReader:
      let socket = try await vaults.lendReader()
      return [.descriptor(BusDescriptor(taking: socket.release()))]

    case .openContext:
      let handle = try await openContext(try ContextOptions(bus: values[0]), over: connection)
      return [handle.busValue]
    case .respond:
      let response = try ContextResponse(bus: values[1...])
      await (try service).respond(try ContextHandle(bus: values[0]), response)
      return []
    case .setApplicationPassword:
      let handle = try ContextHandle(bus: values[0])
      let password = try SecretBytes.optional(sealed: values[1], limit: NewItem.secretLimit)
      await (try service).setApplicationPassword(password, of: handle)
      contexts[handle]?.password = memory
      return []
    case .closeContext:
      let handle = try ContextHandle(bus: values[0])
      await (try service).closeContext(handle, reason: try ContextEnd(bus: values[1]))
      contexts[handle]?.isClosed = true
      return []

    case .items:
      let page = try await service.items(try ItemSearch(bus: values[0]), try Asking(bus: values[1]))
      return [page.items.busValue, ItemCursor.argument(page.next)]
    case .secrets:
      let items = try await service.secrets(try ItemSelection(bus: values[0]), try Asking(bus: values[1]))
      return try ReleasedItems(items).busValues(in: unread)
    case .firstSecrets:
      let items = try await service.secrets(
        of: try [ItemID](bus: values[0]), upTo: try Int(bus: values[1]), try Asking(bus: values[2]))
      return try ReleasedItems(items).busValues(in: unread)
    case .addAll: return [try await service.add(try ItemsToAdd(bus: values).items).busValue]
    case .add:
      let secret = try SecretBytes(sealed: values[1], limit: NewItem.secretLimit)
      let item = try await service.add(
        try NewItem(bus: values[0]), secret: secret, replacing: try Bool(bus: values[2]), try Asking(bus: values[3]))
      return [item.busValue]
    case .update:
      let secret = try SecretBytes.optional(sealed: values[2], limit: NewItem.secretLimit)
      let count = try await service.update(
        try ItemSelection(bus: values[0]), try ItemChange(bus: values[1]), secret: secret, try Asking(bus: values[3]))
      return [count.busValue]
    case .delete: return [try await service.delete(try ItemSelection(bus: values[0])).busValue]
    case .sealCopy:
      let secret = try SecretBytes(sealed: values[0], limit: NewItem.secretLimit)
      let old = values[2].asBytes == [] ? nil : try SealedCopy(bus: values[2])
      let copy = try await service.sealCopy(
        of: secret, under: try SealedCopy.Keys(bus: values[1]), replacing: old, try Asking(bus: values[3]))
      return [copy.busValue]
    case .addKey:
      let source = try KeySource(kind: values[1], secret: values[2])
      return [try await service.addKey(try NewItem(bus: values[0]), from: source).busValue]
    case .useKey:
      let result = try await service.useKey(
        try ItemID(bus: values[0]), try KeyUse(bus: values[1]), try Asking(bus: values[2]))
      return [try result.sealed()]

    case .evaluate:
      let state = try await service.evaluate(try Proof(bus: values[0]), try Asking(bus: values[1]))
      return [.bytes(state ?? [])]
    case .biometry: return [try await service.biometry().busValue]

    case .enroll: return [try await service.enroll(try Finger(bus: values[0]), try Asking(bus: values[1])).busValue]
    case .unenroll:
      let finger = try Word(bus: values[0]).word.isEmpty ? nil : try Finger(bus: values[0])
      return [try await service.unenroll(finger, try Asking(bus: values[1])).busValue]
    case .losses: return [try await service.losses(try LosingChange(bus: values[0])).busValue]

    case .unlock:
      try await service.unlock(try Asking(bus: values[0]))
      return []
    case .lock:
      try await service.lock()
      return []
    case .changePasscode:
      try await service.changePasscode(try Asking(bus: values[0]))
      return []
    case .reseal:
      try await service.reseal(to: try Octets(bus: values[0]).bytes, try Asking(bus: values[1]))
      return []
    case .setFirstUnlock:
      try await service.setFirstUnlock(try FirstUnlock(bus: values[0]), try Asking(bus: values[1]))
      return []
    case .removePasscode: return [try await service.removePasscode(try Asking(bus: values[0])).busValue]
    case .recover:
      let restore = try DetectedRestore.ID.optional(bus: values[0])
      return [try await service.recover(accepting: restore, try Asking(bus: values[1])).busValue]
    case .draftRecoveryKey: return [try await service.draftRecoveryKey().sealed()]
    case .keepRecoveryKey:
      try await service.keepRecoveryKey(try Asking(bus: values[0]))
      return []
    case .detectedRestore:
      let restore = try await service.detectedRestore()
      return [(restore.map { [$0] } ?? []).busValue]
    case .acceptRestore:
      let lost = try await service.acceptRestore(try DetectedRestore.ID(bus: values[0]), try Asking(bus: values[1]))
      return [lost.busValue]

    case .backUp:
      try await service.backUp(to: values[0].asFile)
      return []
    case .backupContents: return [try await service.contents(ofBackup: values[0].asFile).busValue]
    case .restoreBackup:
      let lost = try await service.restore(
        values[0].asFile, accepting: try BackupContents.ID(bus: values[1]), try Asking(bus: values[2]))
      return [lost.busValue]

    case .useAdapter:
      let adapter = try Word(bus: values[0]).word.isEmpty ? nil : try ReaderAdapter(bus: values[0])
      try await service.useAdapter(adapter, try Asking(bus: values[1]))
      return []
    case .readers: return [try await service.readers().busValue]
    case .status: return [try await service.status().busValue]
    case .openClasses: return [try await service.openClasses().busValue]
    case .unlockChange: return [.boolean(try await service.unlockChange(from: try Bool(bus: values[0])))]
    case .problems: return [try await service.problems().busValue]
    case .log: return [try await service.log(try AuditSearch(bus: values[0])).busValue]
    }
  }

  private var service: any VaultService {
    get throws(VaultError) {
      guard case .open(let service) = store else { throw .invalidRequest("no store is open on this connection") }
      return service
    }
  }

  private func open(_ place: StorePlace) async throws(VaultError) {
    guard case .none = store else { throw .invalidRequest("a store is open on this connection already") }
    store = .opening
    do throws(VaultError) {
      store = .open(try await vaults.open(place))
    } catch {
      store = .none
      throw error
    }
  }

  private func openContext(
    _ options: ContextOptions, over connection: BusConnection
  ) async throws(VaultError) -> ContextHandle {
    guard contexts.values.count(where: { !$0.isClosed }) + openingContexts < Self.contextLimit else {
      throw .busy("\(Self.contextLimit) contexts are open on this connection")
    }
    openingContexts += 1
    defer { openingContexts -= 1 }
    let (handle, events) = try await service.openContext(options)
    forward(events, of: handle, over: connection)
    return handle
  }
}
