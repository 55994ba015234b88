import Primitives
import SecretModel
import Synchronization

/// Plays the user of a measured store: gives the recovery key when asked for it, and a touch when one is wanted.
final class Toucher: Sendable {
  private let recoveryKey: String
  /// Presents a finger. The argument is the finger being enrolled, or nil for a verification.
  private let touch: @Sendable (Finger?) async throws -> Void
  private let matched = Mutex<UInt64>(0)

  init(recoveryKey: String, touch: @escaping @Sendable (Finger?) async throws -> Void) {
    self.recoveryKey = recoveryKey
    self.touch = touch
  }

  /// When this process learned of the last match, by `ScanClock`.
  var matchedAt: UInt64 { matched.withLock { $0 } }

  func with<T: Sendable>(_ vault: any VaultService, _ body: (Asking) async throws -> T) async throws -> T {
    let (context, events) = try await vault.openContext(ContextOptions())
    let listener = Task {
      var enrolling: Finger?
      for await numbered in events {
        switch numbered.event {
        case .secretWanted(.recoveryKey):
          let secret = SecretBytes(copying: Array(recoveryKey.utf8).span)
          await vault.respond(context, .secret(question: numbered.number, secret))
        case .secretWanted: await vault.respond(context, .decline(question: numbered.number))
        case .touchWanted(let request):
          switch request.purpose {
          case .enroll(let finger), .confirm(let finger): enrolling = finger
          case .read, .evaluate: enrolling = nil
          }
          await touchOrCancel(enrolling, vault, context)
        case .enrolmentStage(let completed, let count) where completed < count:
          await touchOrCancel(enrolling, vault, context)
        case .matched: matched.withLock { $0 = ScanClock.now() }
        case .retry:
          if let enrolling { await touchOrCancel(enrolling, vault, context) }
        default: break
        }
      }
    }
    let result: Result<T, any Error>
    do { result = .success(try await body(Asking(in: context))) } catch { result = .failure(error) }
    await vault.closeContext(context, reason: .program)
    await listener.value
    return try result.get()
  }

  private func touchOrCancel(_ finger: Finger?, _ vault: any VaultService, _ context: ContextHandle) async {
    do { try await touch(finger) } catch { await vault.respond(context, .cancel) }
  }
}
