import Keys
import Primitives

/// A key pair, and what SSH makes of it.
final class TestKey: Sendable {
  private let key: PrivateKey

  init(_ algorithm: KeyAlgorithm = .ed25519) throws { key = try PrivateKey.generate(algorithm) }

  var publicKey: [UInt8] { get throws { try key.publicKey.ssh } }

  func signature(of data: [UInt8], as name: String? = nil) throws -> [UInt8] {
    guard let name = name ?? key.algorithm.sshName, let scheme = SSHSignature.scheme(name, for: key.algorithm) else {
      throw NoScheme()
    }
    return SSHSignature.encoded(try key.sign(data, scheme), name, of: key.algorithm)
  }

  private struct NoScheme: Error {}
}
