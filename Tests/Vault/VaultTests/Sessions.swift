import Synchronization

@testable import Presence

/// Sessions that a test locks and unlocks.
final class Sessions: SessionGate {
  let unlocked = Mutex(true)

  func refusal(for _: Caller, at _: ReaderPlace) async -> SessionRefusal? { nil }
  func untilRefused(for caller: Caller) async -> SessionRefusal { await NoSessionGate().untilRefused(for: caller) }
  func sessionRefusal(for _: Caller, at _: ReaderPlace) async -> SessionRefusal? { nil }
  func sessionChange(from known: SessionRefusal?, for caller: Caller) async {
    await NoSessionGate().sessionChange(from: known, for: caller)
  }
  nonisolated(nonsending) func isUnlocked(_: UInt32) async -> Bool { unlocked.withLock { $0 } }
}
