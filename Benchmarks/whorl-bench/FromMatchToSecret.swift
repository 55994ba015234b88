import Glibc
import Primitives
import SecretModel
import VirtualFinger

/// The time from the match, as this process learns of it, to the written secret: the delay a person feels after the
/// touch.
struct FromMatchToSecret {
  let folder: String

  func samples(count: Int) async throws -> [Samples] {
    let path = "\(folder)/touch-store"
    let finger = VirtualStorageReader(socket: "\(folder)/touch-reader")
    let scratch = try await ScratchVault(at: path, reader: .virtualStorage(socket: finger.socket))
    let vault = scratch.service
    let person = Toucher(recoveryKey: scratch.recoveryKey) { _ in try finger.scan("right-index") }
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, $0) }

    // The secret is written to a pipe, as for a program that waits for it.
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw BenchFailure("no pipe") }
    defer { for end in ends { close(end) } }
    var all: [Samples] = []
    for constraint in [AccessControl.Constraint.presence, .currentSet] {
      let item = try await scratch.add("touched/\(constraint.rawValue)", "secret", constraint)
      var samples = Samples(name: "match to secret, \(constraint.rawValue)")
      for _ in 0...count {
        let output = ends[1]
        let nanoseconds = try await person.with(vault) { asking in
          let items = try await vault.secrets(.ids([item]), asking)
          try items[0].secret.write(to: output)
          return ScanClock.now() - person.matchedAt
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(ends[0], &bytes, bytes.count)
        samples.nanoseconds.append(nanoseconds)
      }
      // Discard the first sample, which warms up the caches.
      samples.nanoseconds.removeFirst()
      all.append(samples)
    }
    await scratch.close()
    return all
  }
}
