internal import Keys
internal import Primitives
internal import SDBus
internal import SecretModel

/// How secrets are encoded on the bus in a client's session.
enum TransferSession: Sendable {
  /// Unencrypted.
  case plain
  /// AES-128-CBC with this key.
  case encrypted(SharedSecret)

  private static let plainName = "plain"
  private static let encryptedName = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

  /// Opens a session with the algorithm and the input of `OpenSession`, and returns its output.
  static func open(_ algorithm: String, _ input: BusValue) throws(ServiceError) -> (session: Self, output: BusValue) {
    switch (algorithm, input) {
    case (plainName, _): return (.plain, .string(""))
    case (encryptedName, .secret(let peer)):
      guard let peer = peer.bytes as? SharedSecret else { throw .invalidArguments("no public key") }
      do throws(KeysError) {
        let exchange = try Oakley2()
        let shared = try exchange.sharedSecret(with: peer.bytes)
        let key = try KDF.hkdf(key: shared, info: [], count: AESCBC.count)
        return (.encrypted(SharedSecret(key)), .bytes(exchange.publicKey))
      } catch .badParameters(let why) {
        throw .invalidArguments(why)
      } catch {
        throw .failed("no key can be agreed on")
      }
    case (encryptedName, _): throw .invalidArguments("the public key is an array of bytes")
    default: throw .notSupported("the algorithms are \(plainName) and \(encryptedName)")
    }
  }

  /// An item's secret as a structure of the API.
  func encode(_ released: ReleasedItem, session path: String) throws(ServiceError) -> BusValue {
    try encode(
      SharedSecret(released.secret.copy()), SecretServiceItem.contentType(of: released.item), session: path)
  }

  /// A secret as a structure of the API.
  func encode(_ secret: SharedSecret, _ contentType: String, session path: String) throws(ServiceError) -> BusValue {
    let (parameters, value): ([UInt8], SharedSecret)
    switch self {
    case .plain: (parameters, value) = ([], secret)
    case .encrypted(let key):
      do throws(KeysError) {
        parameters = try Random.bytes(AESCBC.count)
        value = SharedSecret(try AESCBC.encrypt(secret.bytes, key: key.bytes, iv: parameters))
      } catch {
        throw .failed("the secret cannot be encrypted for the transfer")
      }
    }
    return .structure([.objectPath(path), .bytes(parameters), .secret(BusSecret(value)), .string(contentType)])
  }

  /// Decrypts the secret in a structure of the API.
  func decode(_ structure: SecretStructure) throws(ServiceError) -> SharedSecret {
    guard case .encrypted(let key) = self else { return structure.value }
    do throws(KeysError) {
      return SharedSecret(
        try AESCBC.decrypt(structure.value.bytes, key: key.bytes, iv: structure.parameters.bytes))
    } catch {
      throw .invalidArguments("the secret cannot be decrypted")
    }
  }
}

/// A secret as it is sent over the bus.
struct SecretStructure {
  static let signature = "(oayays)"

  let session: String
  let parameters: SharedSecret
  let value: SharedSecret
  let contentType: String

  init?(_ value: BusValue) {
    guard let parts = value.asStructure, parts.count == 4, let session = parts[0].asObjectPath,
      let parameters = parts[1].asSecret as? SharedSecret, let value = parts[2].asSecret as? SharedSecret,
      let contentType = parts[3].asString
    else { return nil }
    (self.session, self.parameters, self.value, self.contentType) = (session, parameters, value, contentType)
  }
}
