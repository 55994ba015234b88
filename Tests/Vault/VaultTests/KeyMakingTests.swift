import Primitives
import Synchronization
import Testing

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore

@Suite("Generating private keys for several users", .timeLimit(.minutes(3)))
struct KeyMakingTests {
  private static let item = NewItem(.key, [.label: .text("work")])

  private static func make(_ algorithm: KeyAlgorithm, of user: UInt32) async throws(VaultError) -> KeyMaking.Made {
    try await KeyMaking.key(from: .generated(algorithm), for: item, of: user)
  }

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  @Test("one user's calls to make private keys run one at a time, are refused over a limit, and can be cancelled")
  func many() async throws {
    let (busy, made) = (Counter(), Counter())
    let keys = (0..<100).map { _ in
      Task {
        do throws(VaultError) {
          _ = try await Self.make(.rsa(bits: 4096), of: 4_000_000_001)
          made.value.add(1, ordering: .relaxed)
        } catch .busy(let why) {
          #expect(why == "64 private keys wait to be made or read")
          busy.value.add(1, ordering: .relaxed)
        } catch {
          #expect(error == .cancelled)
        }
      }
    }
    while busy.value.load(ordering: .relaxed) == 0 { try await Task.sleep(for: .milliseconds(2)) }
    _ = try await Self.make(.ed25519, of: 4_000_000_002)
    for key in keys { key.cancel() }
    for key in keys { await key.value }
    #expect(made.value.load(ordering: .relaxed) < 25)
    _ = try await Self.make(.ed25519, of: 4_000_000_001)
  }
}
