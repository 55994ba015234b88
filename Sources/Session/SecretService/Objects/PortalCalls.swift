internal import Glibc
internal import Keys
internal import Primitives
internal import SDBus
internal import SecretModel

/// The back end of the portal that gives each sandboxed program one secret, with which the program encrypts its other
/// secrets. Each program has its own secret, stored as an item with the program's id, and its own prompts, which name
/// it. An imported secret of another keyring is found by the same attributes.
struct PortalCalls {
  private static let version = UInt32(1)

  private let call: CallContext
  private let interface: String
  /// The path of the called object: of a request for `Close`.
  private let path: String

  init(_ call: CallContext, _ interface: String, _ path: String) {
    (self.call, self.interface, self.path) = (call, interface, path)
  }

  func answer() async throws(ServiceError) -> [BusValue] {
    switch (interface, call.form) {
    case (ServiceName.properties, "Get(ss)") where call.text(0) == ServiceName.portal && call.text(1) == "version":
      return [.variant(.uint32(Self.version))]
    case (ServiceName.properties, "GetAll(s)") where call.text(0) == ServiceName.portal:
      return [.dictionary(["version": .uint32(Self.version)])]
    case (ServiceName.portal, "RetrieveSecret(osha{sv})"): return try await retrieve()
    case (ServiceName.portalRequest, "Close()"):
      try call.client.closeRequest(path)
      return []
    default: throw call.unknown
    }
  }

  private func retrieve() async throws(ServiceError) -> [BusValue] {
    let application = call.text(1)
    guard !application.isEmpty, let target = call.arguments[2].asDescriptor else {
      throw .invalidArguments("the id of the program is missing")
    }
    guard let handle = call.arguments[0].asObjectPath else { throw .invalidArguments("the handle is missing") }
    return try await call.client.serve(handle, for: application) { [call] client async throws(ServiceError) in
      // Any other program on the bus could claim any program's id.
      guard await call.signals.owner(of: ServiceName.portalFrontEnd) == client.name else {
        throw .accessDenied("only the portal may ask for a program's secret")
      }
      var call = call
      call.client = client
      let secret: SharedSecret
      do throws(ServiceError) {
        secret = try await PortalSecret(call: call, application: application).read()
      } catch .isLocked {
        // Response code 1: the person cancelled.
        return [.uint32(1), .dictionary([:])]
      }
      // The program may read slowly, which must not delay other clients.
      let isWritten = await Task(executorPreference: BackgroundThread()) { Self.write(secret, to: target.rawValue) }
        .value
      // Response code 0: success. 2: it ended in another way.
      return [.uint32(isWritten ? 0 : 2), .dictionary([:])]
    }
  }

  /// How long the program may take to read its secret, in milliseconds.
  private static let writeLimit: Int32 = 5_000

  /// Writes into the pipe or other descriptor that the program has passed. Returns false if the program does not read
  /// it in time.
  private static func write(_ secret: SharedSecret, to target: Int32) -> Bool {
    let flags = fcntl(target, F_GETFL)
    guard flags >= 0, fcntl(target, F_SETFL, flags | O_NONBLOCK) == 0 else { return false }
    return secret.bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
        // Borrows the bytes for the call.
        let count = Glibc.write(target, rest.baseAddress, rest.count)
        if count > 0 {
          written += count
        } else if errno == EAGAIN {
          var waiting = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
          guard poll(&waiting, 1, writeLimit) == 1 else { return false }
        } else if errno != EINTR {
          return false
        }
      }
      return true
    }
  }
}

/// The secret of one sandboxed program.
private struct PortalSecret {
  private static let schema = "org.freedesktop.portal.Secret"
  /// The length of a new secret, in bytes.
  private static let count = 64

  /// The call, with the sandboxed program as its client.
  let call: CallContext
  let application: String

  /// Reads the program's secret. Makes one if there is none.
  func read() async throws(ServiceError) -> SharedSecret {
    let attributes = ["app_id": application, ServiceName.schema: Self.schema]
    let earlier = try await oldest(attributes)
    try await unlock(earlier)
    if earlier == nil { try await make(attributes) }
    // A concurrent call for the same program may have made a secret as well. The oldest one is used.
    guard let found = try await oldest(attributes) else { throw .noSuchObject }
    let item = ItemRead(call: call, collection: found.collection, name: found.name)
    let released = try await item.released(waits: true)
    return SharedSecret(released.secret.copy())
  }

  /// Asks the person to unlock what is locked, since the portal does not call `Unlock`.
  private func unlock(_ item: SecretServiceItem?) async throws(ServiceError) {
    var request = UnlockRequest(call: call)
    try await request.add((item?.path ?? .collection(SecretServiceFolder.usualCollection)).text)
    do throws(VaultError) {
      try await request.perform()
    } catch {
      throw ServiceError(error)
    }
  }

  private func oldest(_ attributes: [String: String]) async throws(ServiceError) -> SecretServiceItem? {
    var found: SecretServiceItem?
    try await call.keeper.each(attributes) { item in if found == nil { found = item } }
    return found
  }

  private func make(_ attributes: [String: String]) async throws(ServiceError) {
    let made: SharedSecret
    do throws(KeysError) {
      made = SharedSecret(try Random.key(Self.count))
    } catch {
      throw .failed("no random bytes for the secret")
    }
    let new = NewSecret(
      label: "Secret of \(application)", attributes: attributes, contentType: "application/octet-stream",
      secret: made)
    let collection = try await call.keeper.collection(SecretServiceFolder.usualCollection)
    let (item, _) = try await call.keeper.create(new, in: collection, replacing: false, program: nil)
    call.signals.created(item: item)
  }
}
