extension VaultCall {
  package static let all: [VaultCall] = [
    greetingCalls, storeCalls, storelessCalls, contextCalls, itemCalls, keyCalls, passkeyCalls, fingerCalls,
    passcodeCalls,
    backupCalls, stateCalls, SyncCalls.all,
  ].flatMap { $0 }

  package static let named: [String: VaultCall] = Dictionary(
    uniqueKeysWithValues: all.map { ($0.member, $0) })
}
