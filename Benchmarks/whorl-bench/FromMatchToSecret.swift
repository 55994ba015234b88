import Fingerprint
import Glibc
import ReaderClient
import SecureMemory
import Vault
import VirtualFinger

/// The time from the reader's match to the written secret, which is the delay a person feels after the touch.
struct FromMatchToSecret {
  let folder: String
  let program: String

  func samples(count: Int) async throws -> [Samples] {
    let path = "\(folder)/touch-store"
    let recoveryKey = try await Vault.create(at: path, passcode: nil)
      .withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    let finger = VirtualStorageReader(socket: "\(folder)/touch-reader")
    let process = ReaderProcess(program: program, selection: .virtualStorage(socket: finger.socket))
    let reader = WatchedReader(process)
    let vault = try Vault(at: path, reader: reader)
    let person = Toucher(recoveryKey: recoveryKey) { _ in try finger.scan("right-index") }
    _ = try await person.with(vault) { try await vault.enroll(.rightIndex, in: $0) }

    // The secret is written to a pipe, as for a program that waits for it.
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw BenchFailure("no pipe") }
    defer { for end in ends { close(end) } }
    var all: [Samples] = []
    for constraint in [AccessControl.Constraint.presence, .currentSet] {
      let name = try ItemName(parsing: "touched/\(constraint.rawValue)")
      let item = try await person.with(vault) { context in
        try await vault.add(
          NewItem(named: name, access: AccessControl(constraint)),
          secret: SecretBytes(copying: Array("secret".utf8).span), in: context)
      }
      var samples = Samples(name: "match to secret, \(constraint.rawValue)")
      for _ in 0...count {
        let output = ends[1]
        let nanoseconds = try await person.with(vault) { context in
          let items = try await vault.secrets(of: [item.id], reason: nil, in: context)
          try items[0].secret.write(to: output)
          return ScanClock.now() - reader.finishedAt
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        _ = read(ends[0], &bytes, bytes.count)
        samples.nanoseconds.append(nanoseconds)
      }
      // Discard the first sample, which warms up the caches.
      samples.nanoseconds.removeFirst()
      all.append(samples)
    }
    await vault.shutdown()
    await process.shutdown()
    return all
  }
}
