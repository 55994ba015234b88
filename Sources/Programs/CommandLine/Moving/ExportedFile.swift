import CommandBase
import Glibc
internal import Moving
import Primitives
internal import Prompts
import SecretModel
import Settings

/// A file that `whorl export` has written, open for reading.
final class ExportedFile: Sendable {
  /// How often a passphrase may be typed.
  private static let attempts = 3

  let path: String
  let descriptor: Int32

  init(_ path: String) throws(Failure) {
    self.path = path
    // O_NONBLOCK: a FIFO of that name must not hang the program.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      throw Failure(
        code == ENOENT ? ImportError.missing(path) : .system("\(path): \(String(cString: strerror(code)))"))
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .usage("\(path) is not a file", advice: "name what 'whorl export' has written")
    }
  }

  deinit { close(descriptor) }

  /// The key of the file's contents. Asks for the passphrase, or for what the item of the store's own key requires.
  func key(
    _ passphrase: PassphraseOption, by vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    switch lock {
    case .passphrase: try await key(passphrase, vault, session)
    case .publicKey: try await keyByStoreKey(vault, session)
    // Try an empty passphrase without asking, so that the vault reports what kind of file it is.
    case .unknown: try await key(.passphrase(SharedSecret(SecretBytes(count: 0))), vault, session)
    }
  }

  private func key(
    _ passphrase: PassphraseOption, _ vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    var attempt = 1
    while true {
      let secret = try passphrase.current(of: path, session.answers(), isRepeated: attempt > 1)
      do throws(Failure) {
        return try await key(.passphrase(secret), vault, session)
      } catch {
        guard error.status == .refused, passphrase.passphraseFd == nil, attempt < Self.attempts else { throw error }
        attempt += 1
      }
    }
  }

  private func keyByStoreKey(
    _ vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    let privateKey = try await session.asking(
      session.answers(), options: session.fileContext, reason: "open \(Visible.text(path)) with this store's key"
    ) { store, asking in
      do {
        return try await StoreKey(of: store).privateKey(asking)
      } catch VaultError.itemGone {
        throw Failure.noStoreKey
      }
    }
    return try await key(.privateKey(privateKey), vault, session)
  }

  private func key(
    _ opening: EncryptedFile.Opening, _ vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    try await session.explained { () async throws(VaultError) in
      SharedSecret(try await vault.fileKey(of: descriptor, with: opening))
    }
  }

  // MARK: Encryption

  /// Whether the file is in age's format.
  var isEncrypted: Bool {
    if case .unknown = lock { false } else { true }
  }

  /// Refuses a file that another program has written: its owner has forgotten to name that program.
  func requireOwn() throws(Failure) {
    guard isEncrypted || isEmpty || begins(with: "age-encryption.org/") else {
      throw Failure(
        .damaged, "'whorl export' has not written \(path)", name: "errSecDecode",
        advice:
          "if another program has, name that, as in 'whorl import --from csv FILE'; 'whorl import --help' lists them")
    }
  }

  private var isEmpty: Bool {
    var byte: UInt8 = 0
    return pread(descriptor, &byte, 1, 0) == 0
  }

  private func begins(with text: String) -> Bool {
    let expected = Array(text.utf8)
    var bytes = [UInt8](repeating: 0, count: expected.count)
    // Writes at most the length of the array.
    return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes == expected
  }

  private enum Lock {
    case passphrase, publicKey, unknown
  }

  /// From the first word of the second line, which the format defines.
  private var lock: Lock {
    if begins(with: "age-encryption.org/v1\n-> scrypt ") { return .passphrase }
    return begins(with: "age-encryption.org/v1\n-> ") ? .publicKey : .unknown
  }
}

extension Failure {
  fileprivate static let noStoreKey = Failure(
    .notFound, "the file is encrypted to a public key, and this store has none", name: "errSecItemNotFound",
    advice: "'whorl key' makes one; export again to that")
}
