import MemorySearch
import Primitives
import SDBus
import Testing

@Suite("Secrets in messages")
struct SecretMessageTests {
  private final class Wiped: WipedBytes {
    let bytes: SecretBytes

    init(copying bytes: UnsafeRawBufferPointer) { self.bytes = SecretBytes(copying: bytes) }

    func lend<Value, Failure>(
      _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
      try bytes.withUnsafeBytes(body)
    }
  }

  /// Random text, of which there is no other copy in memory.
  private func randomSecret() -> SecretBytes {
    var secret = SecretBytes(count: 32)
    secret.withUnsafeMutableBytes { bytes in
      for index in bytes.indices { bytes[index] = UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) }
    }
    return secret
  }

  /// A value with many copies of the secret, since later allocations overwrite some of a freed message's memory.
  private func value(of secret: borrowing SecretBytes) -> BusValue {
    var all = SecretBytes(count: 64 * secret.count)
    all.withUnsafeMutableBytes { all in
      for index in all.indices { secret.withUnsafeBytes { all[index] = $0[index % $0.count] } }
    }
    return .secret(BusSecret(all.withUnsafeBytes { Wiped(copying: $0) }))
  }

  @Test("a secret in a D-Bus call or answer is wiped from memory afterwards", arguments: [true, false])
  func wiped(inCalls: Bool) async throws {
    // The first call of a C function resolves its symbol, which saves the vector registers on the stack. Programs are
    // linked so that all symbols are resolved at the start (scripts/build). Here a first round resolves them; its
    // result is ignored.
    for isFirst in [true, false] {
      let secret = randomSecret()
      try await exchange(secret, inCalls: inCalls)
      let scan = MemoryScan(for: secret)
      // The loop frees the last messages.
      let isWiped = try await eventually { scan.occurrences() == 1 || isFirst }
      #expect(isFirst || isWiped)
    }
  }

  /// Sends a secret from a client to a server and, unless `inCalls`, back.
  private func exchange(_ secret: borrowing SecretBytes, inCalls: Bool) async throws {
    var limits = BusLimits()
    limits.secrets = Wiped.self
    let loopback = try Loopback(
      limits: limits, server: .init(call: { call in call.answer(inCalls ? [] : call.arguments) }))
    defer { loopback.close() }
    for _ in 0..<8 {
      let answer = try await loopback.client.call(target, "Echo", [value(of: secret)])
      #expect(answer.isEmpty == inCalls)
      if let received = answer.first { #expect(received.asSecret != nil) }
    }
  }
}
