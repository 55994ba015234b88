import Executors
import KeySchemes
import Keys
import SecureMemory

/// Makes private keys, and reads those that are brought.
enum KeyMaking {
  /// A key and the item that describes it.
  struct Made: Sendable {
    var item: NewItem
    var secret: SharedSecret
  }

  /// Making an RSA key takes a second or more, and testing the primes of an imported one takes half of that. So one key
  /// is made or tested at a time, and never on the thread of the vaults.
  private static let thread = BackgroundThread()

  static func key(from source: KeySource, for item: NewItem) async throws(VaultError) -> Made {
    guard item.itemClass == .key else { throw .invalidRequest("a private key is an item of class key") }
    let result = await Task(executorPreference: thread) { () -> Result<Made, VaultError> in
      do throws(VaultError) {
        return .success(try Self.made(from: source, for: item))
      } catch {
        return .failure(error)
      }
    }.value
    return try result.get()
  }

  private static func made(from source: KeySource, for item: NewItem) throws(VaultError) -> Made {
    do throws(KeysError) {
      let key =
        switch source {
        case .generated(let algorithm): try PrivateKey.generate(algorithm)
        case .ssh(let bytes): try PrivateKey(ssh: bytes.bytes)
        }
      let (publicKey, size) = (key.publicKey, AttributeValue.number(Int64(key.algorithm.bitCount)))
      var item = item
      item.access = AccessControl(unchecked: item.access.flags.union(.privateKeyUsage))
      item.attributes[.keyClass] = .text(ItemRecord.privateKeyClass)
      item.attributes[.keyType] = .text(key.algorithm.family.keyType)
      item.attributes[.keySizeInBits] = size
      item.attributes[.effectiveKeySize] = size
      item.attributes[.applicationLabel] = .bytes(publicKey.label)
      item.attributes[.publicKey] = .bytes(publicKey.external)
      item.attributes[.sshPublicKey] = .bytes(try publicKey.ssh)
      return Made(item: item, secret: SharedSecret(try key.external()))
    } catch .badParameters(let why) {
      throw .invalidRequest(why)
    } catch {
      throw VaultError(keys: error)
    }
  }
}
