import Keys
import Primitives
import SDBus

/// A client of a Secret Service that stays connected to its bus, with a plain and an encrypted session.
struct SecretServiceClient {
  private static let name = "org.freedesktop.secrets"
  private static let service = BusTarget(
    destination: name, path: "/org/freedesktop/secrets", interface: "org.freedesktop.Secret.Service")

  private let connection: BusConnection
  let session: String
  private let encrypted: String
  private let key: SharedSecret

  /// - Parameter busFile: a file with the address of the bus.
  init(busFile: String) async throws {
    guard let line = try SmallText.lines(of: busFile).first, let address = line.split(separator: ",").first else {
      throw BenchFailure("\(busFile) has no address")
    }
    connection = try BusConnection(
      busAddress: String(address),
      handlers: .init(call: { $0.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }))
    let connection = connection
    func open(_ algorithm: String, _ input: BusValue) async throws -> (path: String, output: BusValue?) {
      let answer = try await connection.call(
        Self.service, "OpenSession", [.string(algorithm), .variant(input)], within: .seconds(10))
      guard let path = answer.last?.asObjectPath else { throw BenchFailure("no session of the Secret Service") }
      return (path, answer.first?.asVariant)
    }
    session = try await open("plain", .string("")).path
    let exchange = try Oakley2()
    let opened = try await open("dh-ietf1024-sha256-aes128-cbc-pkcs7", .bytes(exchange.publicKey))
    let theirs = opened.output?.asBytes ?? []
    let shared = try exchange.sharedSecret(with: SecretBytes(copying: theirs.span))
    encrypted = opened.path
    key = SharedSecret(try KDF.hkdf(key: shared, info: [], count: AESCBC.count))
  }

  /// The path of the item with this number, which `scripts/bench` has stored.
  func search(_ number: Int) async throws -> String {
    let answer = try await connection.call(
      Self.service, "SearchItems", [.texts(["service": "service-\(number)", "account": "me"])], within: .seconds(60))
    guard let path = answer.first?.asArray?.first?.asObjectPath else {
      throw BenchFailure("the item of the Secret Service is not found")
    }
    return path
  }

  /// Reads the properties of the service, as every libsecret program does first.
  func collections() async throws {
    let target = BusTarget(
      destination: Self.name, path: "/org/freedesktop/secrets", interface: "org.freedesktop.DBus.Properties")
    let answer = try await connection.call(
      target, "GetAll", [.string("org.freedesktop.Secret.Service")], within: .seconds(60))
    guard answer.first?.asDictionary?["Collections"] != nil else { throw BenchFailure("no collections") }
  }

  /// The paths of all items that `scripts/bench` has stored.
  func searchAll() async throws -> [BusValue] {
    let answer = try await connection.call(
      Self.service, "SearchItems", [.texts(["account": "me"])], within: .seconds(60))
    return answer.first?.asArray ?? []
  }

  /// Reads the secrets of these items at once. The answer is not looked at: this client cannot read dictionaries by path.
  func read(_ paths: [BusValue], isEncrypted: Bool) async throws {
    do {
      _ = try await connection.call(
        Self.service, "GetSecrets", [.array(of: "o", paths), .objectPath(isEncrypted ? encrypted : session)],
        within: .seconds(60))
    } catch BusError.malformed {}
  }

  /// Reads an item, and compares its secret with what is expected; nil for any.
  func read(_ path: String, isEncrypted: Bool = false, expected: String? = "secret-7") async throws {
    let item = BusTarget(destination: Self.name, path: path, interface: "org.freedesktop.Secret.Item")
    let answer = try await connection.call(
      item, "GetSecret", [.objectPath(isEncrypted ? encrypted : session)], within: .seconds(60))
    guard let parts = answer.first?.asStructure, parts.count == 4, let parameters = parts[1].asBytes,
      let bytes = parts[2].asBytes
    else { throw BenchFailure("the Secret Service has not given a secret") }
    guard let expected else { return }
    var secret = SecretBytes(copying: bytes.span)
    if isEncrypted { secret = try AESCBC.decrypt(secret, key: key.bytes, iv: SecretBytes(copying: parameters.span)) }
    guard secret.constantTimeEquals(SecretBytes(copying: Array(expected.utf8).span)) else {
      throw BenchFailure("the Secret Service has given another secret")
    }
  }

  func close() { connection.close() }
}
