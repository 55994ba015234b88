// Encrypted files: the one that an export writes, and the one that an import or a restore reads.

import Glibc
internal import Moving
import Primitives
import Processes
internal import PromptTexts
import SecretModel
import SecureMemory
import Whorl

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
    _ passphrase: PassphraseOption, in store: any VaultService, by vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    switch lock {
    case .passphrase: try await key(passphrase, vault, session)
    case .publicKey: try await keyByStoreKey(store, vault, session)
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
    _ store: any VaultService, _ vault: any VaultConnection, _ session: Session
  ) async throws(Failure) -> SharedSecret {
    let own = StoreKey(of: store)
    let privateKey = try await session.asking(
      store, session.answers(), options: session.fileContext, reason: "open \(Visible.text(path)) with this store's key"
    ) { asking in
      do {
        return try await own.privateKey(asking)
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

  private enum Lock {
    case passphrase, publicKey, unknown
  }

  /// From the first word of the second line, which the format defines.
  private var lock: Lock {
    func begins(with text: String) -> Bool {
      let expected = Array(text.utf8)
      var bytes = [UInt8](repeating: 0, count: expected.count)
      // Writes at most the length of the array.
      return pread(descriptor, &bytes, bytes.count, 0) == bytes.count && bytes == expected
    }
    if begins(with: "age-encryption.org/v1\n-> scrypt ") { return .passphrase }
    return begins(with: "age-encryption.org/v1\n-> ") ? .publicKey : .unknown
  }
}

extension Failure {
  fileprivate static let noStoreKey = Failure(
    .notFound, "the file is encrypted to a public key, and this store has none", name: "errSecItemNotFound",
    advice: "'whorl key' makes one; export again to that")
}

/// A file that a command writes under a temporary name and renames when it is complete, so that no partial file has its
/// name.
struct EncryptedOutput {
  private let path: String
  private let replaces: Bool

  /// Throws early, before anybody has touched a reader, if the file cannot be made.
  init(_ path: String, replacing: Bool) throws(Failure) {
    (self.path, replaces) = (path, replacing)
    var status = stat()
    if lstat(path, &status) == 0 {
      guard replacing else { throw Self.exists(path) }
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw .usage("\(path) is there and is not a file", advice: "name another one")
      }
    }
    guard access(folder, W_OK | X_OK) == 0 else { throw cannotMake(errno) }
  }

  /// Creates a file for this user alone, calls `body` to write it, and gives it its name. Removes it if that fails.
  func write<Value>(_ body: (Int32) async throws(Failure) -> Value) async throws(Failure) -> Value {
    let new = "\(path).\(Hexadecimal.text(of: UInt64.random(in: 0...UInt64.max)))"
    // It may be finished by the time of a signal, under its own name.
    let (file, entry) = try Unfinished.ofThisProgram.make { () throws(Failure) in
      let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw cannotMake(errno) }
      return file
    } undo: { _ in
      unlink(new)
    }
    defer {
      close(file)
      Unfinished.ofThisProgram.forget(entry)
    }
    let value: Value
    do throws(Failure) {
      value = try await body(file)
      try rename(new)
    } catch {
      unlink(new)
      throw error
    }
    return value
  }

  private func rename(_ new: String) throws(Failure) {
    if replaces {
      guard Glibc.rename(new, path) == 0 else { throw cannotMake(errno) }
    } else if let code = exclusiveRename(new) {
      throw code == EEXIST ? Self.exists(path) : cannotMake(code)
    }
    if let code = Folder.sync(folder) { throw cannotMake(code) }
  }

  private func exclusiveRename(_ new: String) -> Int32? {
    let code = ExclusiveRename.rename(new, to: path)
    // The file system has no exclusive rename. Try a hard link, which replaces no file either.
    guard code == EINVAL else { return code }
    guard link(new, path) == 0 else { return errno }
    unlink(new)
    return nil
  }

  private var folder: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  private func cannotMake(_ code: Int32) -> Failure {
    Failure(
      .inputOutput, "cannot make \(path): \(String(cString: strerror(code)))", name: "errSecIO",
      advice: "name another file")
  }

  private static func exists(_ path: String) -> Failure {
    Failure(.exists, "\(path) exists already", advice: "name another file, or overwrite it with --replace")
  }
}
