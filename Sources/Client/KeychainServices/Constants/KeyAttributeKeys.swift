public import Foundation

// The keys of the attributes of cryptographic keys, and the values of these attributes.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `kcls`: whether the key is public, private or symmetric, one of `kSecAttrKeyClass…`.
public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
/// `klbl`: the SHA-1 of the public key, data.
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
/// `atag`: a tag that the program chooses, data.
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
/// `type`: the algorithm, one of `kSecAttrKeyType…`.
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
/// `crtr`: the creator, a number.
public nonisolated(unsafe) let kSecAttrKeyCreator: CFString = "crtr"
/// `bsiz`: the size in bits, a number.
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
/// `esiz`: the effective size in bits, a number.
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
/// `sdat`: the first day on which the key may be used.
public nonisolated(unsafe) let kSecAttrStartDate: CFString = "sdat"
/// `edat`: the last day on which the key may be used.
public nonisolated(unsafe) let kSecAttrEndDate: CFString = "edat"
/// `perm`: whether the key is stored when it is generated, a Boolean.
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
/// `priv`: whether the key is encrypted, a Boolean.
public nonisolated(unsafe) let kSecAttrIsPrivate: CFString = "priv"
/// `modi`: whether the key can be changed, a Boolean.
public nonisolated(unsafe) let kSecAttrIsModifiable: CFString = "modi"
/// `sens`: whether the key can only be exported encrypted, a Boolean.
public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
/// `asen`: whether the key has always been sensitive, a Boolean.
public nonisolated(unsafe) let kSecAttrWasAlwaysSensitive: CFString = "asen"
/// `extr`: whether the key may be exported, a Boolean.
public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
/// `next`: whether the key has never been extractable, a Boolean.
public nonisolated(unsafe) let kSecAttrWasNeverExtractable: CFString = "next"
/// `encr`: whether the key may encrypt, a Boolean.
public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
/// `decr`: whether the key may decrypt, a Boolean.
public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
/// `drve`: whether other keys may be derived from the key, a Boolean.
public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
/// `sign`: whether the key may sign, a Boolean.
public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
/// `vrfy`: whether the key may verify signatures, a Boolean.
public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
/// `snrc`: whether the key may sign with message recovery, a Boolean.
public nonisolated(unsafe) let kSecAttrCanSignRecover: CFString = "snrc"
/// `vyrc`: whether the key may verify with message recovery, a Boolean.
public nonisolated(unsafe) let kSecAttrCanVerifyRecover: CFString = "vyrc"
/// `wrap`: whether the key may wrap other keys, a Boolean.
public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
/// `unwp`: whether the key may unwrap other keys, a Boolean.
public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"
/// `tkid`: the token that holds the key, `kSecAttrTokenIDSecureEnclave` or nothing.
public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"

// Values

/// `com.apple.setoken`: a P-256 key that is never exported and used only inside the vault. There is no separate
/// hardware.
public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// `0`: a public key.
public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
/// `1`: a private key.
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
/// `2`: a symmetric key.
public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"
/// `42`: RSA.
public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
/// `73`: an elliptic curve over a prime field. The older name.
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
/// `73`: an elliptic curve over a prime field.
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// `73`: an elliptic curve over a prime field. The name on macOS.
public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"
/// `43`: DSA, which is not supported.
public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"
/// `2147483649`: AES. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"
/// `14`: DES. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"
/// `17`: triple DES. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"
/// `25`: RC4. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"
/// `23`: RC2. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"
/// `56`: CAST. Such a key is stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "56"

// The parameters of a new key

/// `private`: attributes for the private key only, a dictionary.
public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"
/// `public`: attributes for the public key only, a dictionary.
public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"
