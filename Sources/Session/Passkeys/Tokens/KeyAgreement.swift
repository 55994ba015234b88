internal import CBOR
internal import KeySchemes
internal import Keys
internal import SecureMemory

/// The authenticator's side of the key agreement: a key pair of P-256.
struct KeyAgreement: ~Copyable {
  private let pair: PrivateKey

  init() throws(KeysError) { pair = try PrivateKey.generate(.ec(.p256)) }

  /// The answer to `getKeyAgreement`.
  var publicKey: CBORValue { COSEKey(agreement: pair.publicKey.external)?.value ?? .null }

  /// The keys shared with the platform that has this public key.
  borrowing func keys(with peer: CBORValue, _ version: PINProtocol) throws(KeysError) -> PINKeys {
    guard let key = COSEKey(peer), case .agreement = key else { throw .badParameters("not a key for an agreement") }
    let publicKey = try PublicKey(external: key.external, family: .ec)
    return try version.keys(of: try pair.exchange(with: publicKey, .ecdh, requestedSize: 32, sharedInfo: []))
  }
}
