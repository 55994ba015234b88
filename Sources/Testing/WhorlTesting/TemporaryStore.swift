// WhorlTesting: a temporary store with a simulated user, for the tests of programs that use Whorl. Begin with
// `TemporaryStore`; `SyntheticPerson` answers its prompts.

internal import FoundationEssentials
internal import Glibc
internal import Primitives
public import Whorl

/// A store for one test, in a folder of its own, with libfprint's virtual reader and a simulated person in front of it.
/// The machine needs no reader.
///
/// ```swift
/// let temporary = try await TemporaryStore(enrolled: [.rightIndex])
/// defer { temporary.remove() }
/// try await saveToken("abc", in: temporary.store)
/// temporary.person.willRespond(.touch(by: .somebodyElse), .touch(by: .enrolled))
/// let token = try await readToken(from: temporary.store)
/// ```
///
/// Keychain Services and LocalAuthentication use it after ``Whorl/SecretStore/useAsShared(_:)``. Keys, database, reader
/// process and prompts are the real ones: only the fingerprints are simulated.
public final class TemporaryStore: Sendable {
  /// The store. Its prompts are answered by ``person``.
  public let store: SecretStore
  /// The person who touches the reader and knows the passcode.
  public let person: SyntheticPerson
  /// The directory of the store.
  package let directory: String
  private let folder: TemporaryFolder
  private let configuration: Configuration

  /// Makes a store and enrols fingers. Takes about a second, and half a second more for each finger.
  ///
  /// - Parameters:
  ///   - passcode: the store's passcode, of at least four bytes; nil for a store without one.
  ///   - fingers: the fingers to enrol.
  ///   - programs: the folder of `whorld` and `whorl-reader`, searched after this program's own folder; nil: their
  ///     installed places.
  /// - Throws: `serviceUnavailable` where there is no `whorld`, and errors of making a store and enrolling fingers,
  ///   such as `ReaderError.absent` where libfprint was built without its virtual drivers.
  public init(passcode: String? = "1234", enrolled fingers: [Finger] = [], programs: String? = nil) async throws {
    folder = try TemporaryFolder()
    let socket = folder.path + "/reader.socket"
    var configuration = Configuration()
    configuration.vaultProgram = programs.map { "\($0)/whorld" }
    configuration.readerProgram = programs.map { "\($0)/whorl-reader" }
    directory = folder.path + "/store"
    let place = StorePlace(
      directory: directory, reader: .virtualImage(socket: socket),
      readerProgram: configuration.readerProgram)
    let person = SyntheticPerson(socket: socket, passcode: passcode)
    // The store lasts for one test.
    try await SecretStore.create(
      at: place, passcode: passcode.map(SecretBytes.init(text:)), allowsGuessable: true, configuration
    ) { key in
      person.keep(recoveryKey: key.copy())
    }
    (self.person, self.configuration) = (person, configuration)
    store = SecretStore(place, configuration)
    store.defaultPrompt = person
    for finger in fingers { try await enroll(finger) }
  }

  /// Enrols one more finger of the person. Items that are bound to the fingers enrolled so far are invalid afterwards.
  ///
  /// - Throws: `VaultError.fingerDuplicate` where the finger is enrolled already.
  public func enroll(_ finger: Finger) async throws {
    let context = store.makeContext(prompt: person)
    try await context.perform(nil) { service, asking throws(VaultError) in _ = try await service.enroll(finger, asking)
    }
    context.invalidate()
    person.learn(finger)
  }

  /// Removes an enrolled finger. Items that are bound to the enrolled fingers are invalid afterwards.
  ///
  /// - Throws: `VaultError.fingerNotEnrolled`.
  public func unenroll(_ finger: Finger) async throws {
    let context = store.makeContext(prompt: person)
    try await context.perform(nil) { service, asking throws(VaultError) in
      _ = try await service.unenroll(finger, asking)
    }
    context.invalidate()
    person.forget(finger)
  }

  /// The same store as another program opens it, with a vault process of its own. The person answers its prompts.
  package func reopened() -> SecretStore {
    let another = SecretStore(
      StorePlace(
        directory: directory, reader: .virtualImage(socket: folder.path + "/reader.socket"),
        readerProgram: configuration.readerProgram), configuration)
    another.defaultPrompt = person
    return another
  }

  /// Removes the store's folder. This also happens when the object is freed.
  public func remove() { folder.remove() }
}

/// A private folder, removed when this object is freed.
private final class TemporaryFolder: Sendable {
  let path: String

  init() throws(VaultError) {
    // Short, because the path of a socket in it has 107 bytes at most.
    var template = Array("/tmp/whorl-testing-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .inputOutput("cannot make a folder in /tmp: \(String(cString: strerror(errno)))")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { remove() }

  func remove() { try? FileManager.default.removeItem(atPath: path) }
}
