internal import CBOR
internal import KeySchemes
internal import Keys
internal import SecureMemory

/// The authenticator's side of the key agreement: a pair of P-256, made when it is first asked for.
struct KeyAgreement: ~Copyable {
  private let pair: PrivateKey

  init() throws(KeysError) { pair = try PrivateKey.generate(.ec(.p256)) }

  /// What `getKeyAgreement` answers.
  var publicKey: CBORValue { COSEKey(agreement: pair.publicKey.external)?.value ?? .null }

  /// The keys that the platform with this public key has too.
  borrowing func keys(with peer: CBORValue, _ version: PINProtocol) throws(CTAPStatus) -> PINKeys {
    guard case .agreement? = COSEKey(peer), let external = COSEKey(peer)?.external else { throw .invalidParameter }
    do throws(KeysError) {
      let key = try PublicKey(external: external, family: .ec)
      let point = try pair.exchange(with: key, .ecdh, requestedSize: 32, sharedInfo: [])
      return try version.keys(of: point)
    } catch {
      throw .invalidParameter
    }
  }
}
