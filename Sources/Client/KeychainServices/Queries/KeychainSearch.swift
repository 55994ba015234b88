// Searches: what a query finds, and the attributes by which certificates are found.

internal import Foundation
internal import Keys
internal import SecretModel
internal import Whorl

extension KeychainQuery {
  /// The search for this query. The accessibility is a condition, the access control is not.
  ///
  /// - Parameters:
  ///   - limit: the most items to find; nil for all.
  ///   - changing: whether the items are to be changed or deleted. Without an access group, only the program's own are
  ///     found then.
  func search(limit: Int?, changing: Bool = false) -> ItemSearch {
    var conditions = attributes
    if let protection { conditions[.accessible] = .text(protection.rawValue) }
    var ids = ids
    for condition in referenceConditions {
      // A condition that contradicts the reference finds nothing.
      if let given = conditions[condition.key], given != condition.value { ids = [] }
      conditions[condition.key] = condition.value
    }
    var search = ItemSearch(
      // A reference finds its item whether synchronizable or not: programs read secrets by references from a list.
      itemClass, conditions, ids: ids, synchronizable: synchronizable ?? (ids == nil ? .no : .any),
      ignoresCase: ignoresCase, limit: limit)
    search.created = created?.timeIntervalSince1970
    search.modified = modified?.timeIntervalSince1970
    search.interaction = effectiveInteraction
    return changing ? search.forChanging : search
  }

  /// The attributes of the item that the query refers to.
  private var referenceConditions: [AttributeName: AttributeValue] {
    var conditions = certificate.map(CertificateAttributes.conditions) ?? [:]
    if let key {
      conditions[.applicationLabel] = .bytes(key.publicLabel)
      conditions[.keyClass] = .text(key.isPrivate ? "1" : "0")
    }
    return conditions
  }

  /// The most items that the search finds; nil for all.
  var countLimit: Int? {
    switch limit ?? .one {
    case .one: 1
    case .some(let count): count
    case .all: nil
    }
  }

  /// How to treat an item that would ask a person. With a context that must not ask, this is `fail`.
  private var effectiveInteraction: ItemSearch.Interaction {
    if interaction == .allow, context?.options.interactionNotAllowed == true { return .fail }
    return interaction
  }

  /// The same query without interaction or context, so that no item is skipped.
  var unasked: KeychainQuery {
    var query = self
    query.interaction = .allow
    query.context = nil
    return query
  }
}

extension SecretStore {
  /// The items that a search finds, oldest first. Throws if there is none.
  ///
  /// - Throws: `itemGone` where there are none, `interactionNotAllowed` where one would ask and that is not allowed.
  func foundItems(_ search: ItemSearch, using context: AuthenticationContext? = nil) async throws(VaultError) -> [Item]
  {
    let found = try await items(search, using: context)
    guard !found.isEmpty else { throw .itemGone }
    return found
  }
}

/// The attributes that are derived from a certificate itself.
enum CertificateAttributes {
  /// `CSSM_CERT_ENCODING_DER`
  private static let encodingDER: Int64 = 3

  /// The attributes for finding a stored certificate. Names are normalized and without their outer header, as in
  /// Apple's store.
  static func of(_ certificate: Certificate) -> [AttributeName: AttributeValue] {
    var attributes: [AttributeName: AttributeValue] = [
      .certificateType: .number(Int64(certificate.version)), .certificateEncoding: .number(encodingDER),
      .issuer: .bytes(certificate.issuer.normalizedContent), .subject: .bytes(certificate.subject.normalizedContent),
      .serialNumber: .bytes(certificate.serialNumber), .publicKeyHash: .bytes(certificate.publicKeyHash),
      .certificateDigest: .bytes(Digest.sha256(certificate.der)),
    ]
    attributes[.subjectKeyID] = certificate.subjectKeyID.map { .bytes($0) }
    return attributes
  }

  /// The attributes that identify one certificate.
  static func conditions(_ certificate: Certificate) -> [AttributeName: AttributeValue] {
    of(certificate).filter { [.issuer, .serialNumber, .certificateDigest].contains($0.key) }
  }

  /// The attributes of a new stored certificate: the given ones, which must not contradict the certificate, and its
  /// own. The label is its summary unless another is given.
  static func stored(_ given: [AttributeName: AttributeValue], _ certificate: Certificate) throws(KeychainFailure)
    -> [AttributeName: AttributeValue]
  {
    let own = of(certificate)
    for name in derived {
      guard let value = given[name] else { continue }
      guard value == own[name] else {
        throw KeychainFailure(errSecParam, "the attribute \(name.rawValue) is not that of the certificate")
      }
    }
    var attributes = given.merging(own) { $1 }
    if attributes[.label] == nil { attributes[.label] = certificate.summary.map { .text($0) } }
    return attributes
  }

  /// Refuses a change that contradicts the certificate, or that would protect it: a certificate is not secret.
  static func check(_ change: ItemChange, replacesData: Bool, of items: [Item]) throws(VaultError) {
    guard items.contains(where: { $0.itemClass == .certificate }) else { return }
    guard !replacesData, change.attributes.keys.allSatisfy({ !derived.contains($0) }) else {
      throw .invalidRequest("the bytes of a certificate and the attributes in them cannot be changed")
    }
    guard change.access?.isConstrained != true else { throw .invalidRequest(Self.asksForNobody) }
  }

  static let asksForNobody = "a certificate is public, and its access control cannot ask for a person"

  private static let derived: [AttributeName] = [
    .certificateType, .certificateEncoding, .issuer, .subject, .serialNumber, .subjectKeyID, .publicKeyHash,
  ]
}

extension AttributeName {
  /// `kSecAttrCertificateEncoding`
  static let certificateEncoding = Self(rawValue: "cenc")
  /// `kSecAttrSubjectKeyID`
  static let subjectKeyID = Self(rawValue: "skid")
  /// SHA-256 of a certificate; Whorl's own. Issuer and serial number are not enough: somebody may make a second
  /// certificate with the same ones.
  static let certificateDigest = Self(rawValue: "whorl.certificate")
}

extension KeychainQuery {
  /// The certificate of an item to be added.
  ///
  /// - Throws: `errSecDecode` for bytes that are no certificate.
  func certificateToAdd() throws(KeychainFailure) -> Certificate {
    guard accessControl?.isConstrained != true else {
      throw KeychainFailure(errSecParam, CertificateAttributes.asksForNobody)
    }
    switch (certificate, secret) {
    case (let certificate?, nil): return certificate
    case (nil, let data?):
      guard let certificate = Certificate(der: Array(data)) else {
        throw KeychainFailure(errSecDecode, "not a certificate in DER")
      }
      return certificate
    default: throw .parameter
    }
  }
}
