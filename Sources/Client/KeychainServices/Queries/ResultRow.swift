internal import Foundation
internal import Keys
internal import Primitives
internal import SecretModel
internal import Whorl

/// One item of a result, in the form that the query asked for.
struct ResultRow: Sendable {
  /// Where the secret of a row comes from.
  enum Secret: Sendable {
    /// The secret is not returned.
    case none
    /// A released secret, in locked memory until the row is read.
    case released(ReleasedItem)
    /// The client's own data, which it has just added.
    case given(Data)
    /// A certificate, which is no secret.
    case certificate(Certificate)
  }

  let item: Item
  let secret: Secret
  let returns: KeychainQuery.Returns
  /// The context and the reason with which a returned key asks when it is used.
  let context: AuthenticationContext?
  let reason: String?

  /// The result for the client: the one requested value, or a dictionary of several.
  var object: AnyObject {
    switch returns {
    case .data: return data
    case .reference: return reference
    case .persistentReference: return PersistentReference.data(item.id)
    default: break
    }
    let dictionary = returns.contains(.attributes) ? item.attributeDictionary : NSMutableDictionary()
    if returns.contains(.data) { dictionary.setObject(data, forKey: kSecValueData) }
    if returns.contains(.reference) { dictionary.setObject(reference, forKey: kSecValueRef) }
    if returns.contains(.persistentReference) {
      dictionary.setObject(PersistentReference.data(item.id), forKey: kSecValuePersistentRef)
    }
    return dictionary
  }

  private var data: NSData {
    switch secret {
    case .none: NSData()
    case .released(let item): item.secret.data()
    case .given(let data): NSData(data: data)
    case .certificate(let certificate): NSData(data: Data(certificate.der))
    }
  }

  private var reference: NSObject {
    if case .certificate(let certificate) = secret { return SecCertificate(certificate) }
    return item.itemClass == .key ? SecKey(item, context: context, reason: reason) : SecKeychainItem(item.id)
  }
}

extension ResultRow.Secret {
  /// The released secret of an item.
  ///
  /// - Throws: `errSecDecode` for an invalid certificate.
  init(_ released: ReleasedItem?, of item: Item) throws(KeychainFailure) {
    switch (released, item.itemClass) {
    case (nil, _): self = .none
    case (let released?, .certificate):
      guard let certificate = Certificate(der: released.secret.withUnsafeBytes { Array($0) }) else {
        throw KeychainFailure(errSecDecode, "a stored certificate is not valid")
      }
      self = .certificate(certificate)
    case (let released?, _): self = .released(released)
    }
  }
}

/// An array of results. A row is converted when it is read: converting a thousand at once takes longer than finding
/// them.
///
/// It can be read from any thread: the rows never change, and a lock protects the converted ones.
final class ResultArray: NSArray {
  private let rows: [ResultRow]
  private let lock = NSLock()
  private var objects: [AnyObject?]

  init(_ rows: [ResultRow]) {
    self.rows = rows
    objects = Array(repeating: nil, count: rows.count)
    super.init(objects: UnsafePointer<AnyObject>?.none, count: 0)
  }

  required init(objects: UnsafePointer<AnyObject>?, count: Int) {
    rows = []
    self.objects = []
    super.init(objects: objects, count: count)
  }

  required convenience init?(coder: NSCoder) { nil }

  required convenience init(arrayLiteral elements: Any...) { self.init([]) }

  override var count: Int { rows.count }

  override func object(at index: Int) -> Any {
    precondition(rows.indices.contains(index), "index \(index) of \(rows.count) results")
    return lock.withLock {
      if let made = objects[index] { return made }
      let made = rows[index].object
      objects[index] = made
      return made
    }
  }
}
