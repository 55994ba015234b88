// The algorithms of keys, signatures and encryption by name, as plain values that cross every border. Begin
// with `KeyAlgorithm`; `SSHFormat.swift` has the data types of SSH. `Keys` does the work.

/// The kinds of key pairs. Each has its own external formats.
package enum KeyFamily: Sendable, Hashable, CaseIterable {
  case ec, rsa, ed25519, x25519
}

/// The supported NIST curves (FIPS 186-4). Their order is prime, so the cofactor is 1, and Diffie-Hellman gives the
/// same result with and without the cofactor.
package enum Curve: Sendable, Hashable, CaseIterable {
  case p256, p384, p521

  package var bitCount: Int {
    switch self {
    case .p256: 256
    case .p384: 384
    case .p521: 521
    }
  }

  /// The length of a coordinate and of a private scalar, in bytes.
  package var coordinateCount: Int { (bitCount + 7) / 8 }

  /// The length of an uncompressed point (X9.63), in bytes: 04 and two coordinates.
  package var pointCount: Int { 1 + 2 * coordinateCount }
}

/// The algorithm and size of a key pair.
package enum KeyAlgorithm: Sendable, Hashable {
  case ec(Curve)
  /// The size is 2048 to 4096 bits and a multiple of 8.
  case rsa(bits: Int)
  /// Ed25519 (RFC 8032).
  case ed25519
  /// X25519 (RFC 7748), whose keys decrypt, and sign nothing.
  case x25519

  package var family: KeyFamily {
    switch self {
    case .ec: .ec
    case .rsa: .rsa
    case .ed25519: .ed25519
    case .x25519: .x25519
    }
  }

  package var bitCount: Int {
    switch self {
    case .ec(let curve): curve.bitCount
    case .rsa(let bits): bits
    case .ed25519, .x25519: 256
    }
  }

  /// The length of a coordinate or of the RSA modulus, in bytes. Apple calls it the block size of a key.
  package var blockCount: Int { (bitCount + 7) / 8 }

  /// Whether keys of this algorithm can be generated and imported.
  package var isSupported: Bool {
    switch self {
    case .ec, .ed25519, .x25519: true
    case .rsa(let bits): (2048...4096).contains(bits) && bits % 8 == 0
    }
  }
}

/// The words for the algorithms of new keys.
extension KeyAlgorithm {
  /// The algorithms of keys that sign.
  package static let offered: [KeyAlgorithm] = [
    .ed25519, .ec(.p256), .ec(.p384), .ec(.p521), .rsa(bits: 2048), .rsa(bits: 3072), .rsa(bits: 4096),
  ]

  /// Such as `ed25519`, `ecdsa-256` and `rsa-3072`.
  package var word: String {
    switch self {
    case .ed25519: "ed25519"
    case .x25519: "x25519"
    case .ec(let curve): "ecdsa-\(curve.bitCount)"
    case .rsa(let bits): "rsa-\(bits)"
    }
  }

  /// Nil for a word of none of ``offered``, and of no other that has one.
  package init?(word: String) {
    guard let algorithm = (Self.offered + [.x25519]).first(where: { $0.word == word }) else { return nil }
    self = algorithm
  }
}

/// The ways to sign. They are the families of Apple's `SecKeyAlgorithm`.
package enum SignatureScheme: Sendable, Hashable {
  /// What the caller passes to sign or verify.
  package enum Input: String, Sendable, Hashable {
    /// A message of any length. The scheme hashes it.
    case message
    /// A digest made with the scheme's hash function.
    case digest
  }

  /// The encoding of the two integers of an ECDSA signature.
  package enum ECDSAEncoding: String, Sendable, Hashable {
    /// A DER sequence of the two integers.
    case x962
    /// Both integers, each padded to the length of a coordinate (RFC 4754).
    case rfc4754
  }

  /// RSA without padding, for input that the caller has already padded. Shorter input is padded with leading zeros.
  case rsaRaw
  /// RSASSA-PKCS1-v1_5 (RFC 8017) padding around the input as it is. The caller adds a DigestInfo if one is needed.
  case rsaPKCS1Raw
  /// RSASSA-PKCS1-v1_5 (RFC 8017).
  case rsaPKCS1(HashFunction, Input)
  /// RSASSA-PSS (RFC 8017). MGF1 uses the same hash function, and the salt is as long as a digest.
  case rsaPSS(HashFunction, Input)
  /// ECDSA (FIPS 186-4).
  case ecdsa(HashFunction, Input, ECDSAEncoding)
  /// ECDSA over a digest of any length. A digest longer than the order of the curve is truncated to its first bits.
  case ecdsaDigest(ECDSAEncoding)
  /// Ed25519 (RFC 8032) over the message itself, which is not hashed before.
  case ed25519

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1Raw, .rsaPKCS1, .rsaPSS: algorithm.family == .rsa
    case .ecdsa, .ecdsaDigest: algorithm.family == .ec
    case .ed25519: algorithm.family == .ed25519
    }
  }
}

/// The ways to encrypt to a public key. They are the families of Apple's `SecKeyAlgorithm`.
package enum EncryptionScheme: Sendable, Hashable {
  /// Where the nonce of AES-GCM comes from.
  package enum Nonce: String, Sendable, Hashable {
    /// 16 zero bytes. Safe because each AES key is used once. Apple's older form.
    case zero
    /// The 16 bytes that the key derivation yields after the key. Apple's "variable IV".
    case derived
  }

  /// RSA without padding. Shorter plaintext is padded with leading zeros, and the decrypted plaintext is as long as the
  /// modulus.
  case rsaRaw
  /// RSAES-PKCS1-v1_5 (RFC 8017). The plaintext is at least 11 bytes shorter than the modulus.
  case rsaPKCS1
  /// RSAES-OAEP (RFC 8017) without a label. MGF1 uses the same hash function. The plaintext is shorter than the modulus
  /// by at least two digests and two bytes.
  case rsaOAEP(HashFunction)
  /// A random AES key (128 bits, or 256 for a modulus of 4096 bits) encrypted with RSAES-OAEP, then the plaintext
  /// encrypted with AES-GCM under that key, then the 16-byte tag. The nonce is 16 zero bytes, and the additional data
  /// is the public key in PKCS #1 form. This is Apple's format, as described in its `SecKey.h`.
  case rsaOAEPAESGCM(HashFunction)
  /// An ephemeral public key (04 ‖ X ‖ Y), then the plaintext encrypted with AES-GCM, then the 16-byte tag. The AES key
  /// (128 bits on P-256, 256 on larger curves) comes from Diffie-Hellman and the key derivation of X9.63, with the
  /// ephemeral public key as shared info. There is no additional data. This is Apple's ECIES format, standard and
  /// cofactor, as described in its `SecKey.h`.
  case ecies(HashFunction, Nonce)
  /// The key of a file in age's format (C2SP age.md, the X25519 recipient stanza): an ephemeral public key, then the key
  /// of 16 bytes encrypted with ChaCha20-Poly1305, then the tag. The wrapping key comes from Diffie-Hellman and HKDF,
  /// with both public keys as salt.
  case ageX25519

  package func supports(_ algorithm: KeyAlgorithm) -> Bool {
    switch self {
    case .rsaRaw, .rsaPKCS1, .rsaOAEP, .rsaOAEPAESGCM: algorithm.family == .rsa
    case .ecies: algorithm.family == .ec
    case .ageX25519: algorithm.family == .x25519
    }
  }

  /// The longest plaintext that `PublicKey.encrypt` accepts, in bytes. Nil if only memory limits it.
  package func plaintextLimit(_ algorithm: KeyAlgorithm) -> Int? {
    switch self {
    case .rsaRaw: algorithm.blockCount
    case .rsaPKCS1: algorithm.blockCount - 11
    case .rsaOAEP(let hash): algorithm.blockCount - 2 * hash.count - 2
    case .rsaOAEPAESGCM, .ecies: nil
    case .ageX25519: 16
    }
  }
}

/// The ways for two keys on a curve to agree on a secret. Apple also has standard and cofactor variants of each, which
/// give the same result on the supported curves.
package enum ExchangeScheme: Sendable, Hashable {
  /// The X coordinate of the shared point, with the length of a coordinate. It is not uniformly distributed.
  case ecdh
  /// The shared X coordinate, passed through the key derivation of X9.63.
  case ecdhX963(HashFunction)

  package func supports(_ algorithm: KeyAlgorithm) -> Bool { algorithm.family == .ec }
}

/// The hash functions of signatures, OAEP and key agreement. SHA-1 is only for compatibility with existing data.
package enum HashFunction: String, Sendable, Hashable, CaseIterable {
  case sha1, sha224, sha256, sha384, sha512

  /// The length of a digest, in bytes.
  package var count: Int {
    switch self {
    case .sha1: 20
    case .sha224: 28
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    }
  }
}
