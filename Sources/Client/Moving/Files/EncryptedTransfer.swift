// What the file's two ways have in common: the encryption while items pass, the progress, and the names in it.

internal import Glibc
internal import Primitives
internal import SecretModel
internal import Synchronization

/// Sends contents to a vault, which encrypts them into a file, and receives the contents of a file that the vault
/// decrypts.
struct EncryptedTransfer {
  let connection: any VaultConnection

  /// Encrypts the bytes that `write` writes into a socket, into a new file.
  ///
  /// - Parameter file: an empty file, open for writing.
  func encrypt<Value: Sendable>(
    into file: Int32, for recipient: EncryptedFile.Recipient,
    _ write: (_ socket: Int32) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let connection = connection
    return try await transfer(
      { theirs async throws(VaultError) in try await connection.encryptFile(from: theirs, to: file, for: recipient) },
      write)
  }

  /// Decrypts a file into a socket, from which `read` reads. The contents are known to be complete only after this has
  /// returned.
  func decrypt<Value: Sendable>(
    _ file: Int32, with key: SharedSecret, _ read: (_ socket: Int32) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    let connection = connection
    return try await transfer(
      { theirs async throws(VaultError) in
        try await connection.decryptFile(file, with: key.copy(), to: theirs)
      }, read)
  }

  /// Runs the vault's call with one end of a socket pair and `own` with the other, at the same time. When one ends, its
  /// end of the socket is shut down, so that the other does not wait for it.
  private func transfer<Value: Sendable>(
    _ call: @escaping @Sendable (Int32) async throws(VaultError) -> Void,
    _ own: (Int32) async throws(VaultError) -> Value
  ) async throws(VaultError) -> Value {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw .inputOutput("a socket: \(String(cString: strerror(errno)))")
    }
    let (mine, theirs) = (ends[0], ends[1])
    defer {
      close(mine)
      close(theirs)
    }
    let callHasFailed = Mutex(false)
    // On a thread of its own, because `own` blocks its thread while it writes or reads.
    let calling = Task(executorPreference: BackgroundThread()) { () async -> Result<Void, VaultError> in
      let result: Result<Void, VaultError>
      do throws(VaultError) {
        result = .success(try await call(theirs))
      } catch {
        callHasFailed.withLock { $0 = true }
        result = .failure(error)
      }
      shutdown(theirs, Int32(SHUT_RDWR))
      return result
    }
    let result: Result<Value, VaultError>
    do throws(VaultError) {
      result = .success(try await own(mine))
    } catch {
      // One of the two errors has caused the other: throw the first.
      guard callHasFailed.withLock({ $0 }) else {
        shutdown(mine, Int32(SHUT_RDWR))
        _ = await calling.value
        throw error
      }
      result = .failure(error)
    }
    shutdown(mine, Int32(SHUT_RDWR))
    try await calling.value.get()
    return try result.get()
  }
}

/// Called with the progress of an export or an import: the amount done, and the total.
package typealias MoveProgress = @Sendable (_ done: Int, _ all: Int) -> Void

/// The first of many values, and the number of all, so that a file with many items needs little memory.
package struct Listing<Element: Sendable>: Sendable {
  /// The maximum number of values that are kept.
  package static var limit: Int { 1_000 }

  /// The first values, in order.
  package private(set) var first: [Element] = []
  /// The number of all values.
  package private(set) var count = 0

  package init() {}

  package mutating func append(_ element: Element) {
    if count < Self.limit { first.append(element) }
    count += 1
  }
}
