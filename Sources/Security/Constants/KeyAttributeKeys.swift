public import Foundation

// The keys of the attributes of cryptographic keys, and their values.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `kcls`: public, private or symmetric, one of `kSecAttrKeyClass…`.
public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
/// `klbl`: SHA-1 of the public key, data.
public nonisolated(unsafe) let kSecAttrApplicationLabel: CFString = "klbl"
/// `atag`: the program's own name of the key, data.
public nonisolated(unsafe) let kSecAttrApplicationTag: CFString = "atag"
/// `type`: the algorithm, one of `kSecAttrKeyType…`.
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
/// `crtr`: the creator, a number.
public nonisolated(unsafe) let kSecAttrKeyCreator: CFString = "crtr"
/// `bsiz`: the size in bits, a number.
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
/// `esiz`: the effective size in bits, a number.
public nonisolated(unsafe) let kSecAttrEffectiveKeySize: CFString = "esiz"
/// `sdat`: the first day the key is used.
public nonisolated(unsafe) let kSecAttrStartDate: CFString = "sdat"
/// `edat`: the last day the key is used.
public nonisolated(unsafe) let kSecAttrEndDate: CFString = "edat"
/// `perm`: whether the key is stored as it is made, a Boolean.
public nonisolated(unsafe) let kSecAttrIsPermanent: CFString = "perm"
/// `priv`: whether the key is encrypted, a Boolean.
public nonisolated(unsafe) let kSecAttrIsPrivate: CFString = "priv"
/// `modi`: whether the key can be changed, a Boolean.
public nonisolated(unsafe) let kSecAttrIsModifiable: CFString = "modi"
/// `sens`: whether the key leaves only encrypted, a Boolean.
public nonisolated(unsafe) let kSecAttrIsSensitive: CFString = "sens"
/// `asen`: whether it always was sensitive, a Boolean.
public nonisolated(unsafe) let kSecAttrWasAlwaysSensitive: CFString = "asen"
/// `extr`: whether the key may be exported, a Boolean.
public nonisolated(unsafe) let kSecAttrIsExtractable: CFString = "extr"
/// `next`: whether it never was extractable, a Boolean.
public nonisolated(unsafe) let kSecAttrWasNeverExtractable: CFString = "next"
/// `encr`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanEncrypt: CFString = "encr"
/// `decr`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanDecrypt: CFString = "decr"
/// `drve`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanDerive: CFString = "drve"
/// `sign`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanSign: CFString = "sign"
/// `vrfy`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanVerify: CFString = "vrfy"
/// `snrc`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanSignRecover: CFString = "snrc"
/// `vyrc`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanVerifyRecover: CFString = "vyrc"
/// `wrap`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanWrap: CFString = "wrap"
/// `unwp`: what the key may be used for, a Boolean.
public nonisolated(unsafe) let kSecAttrCanUnwrap: CFString = "unwp"
/// `tkid`: where the key lives, `kSecAttrTokenIDSecureEnclave` or nothing.
public nonisolated(unsafe) let kSecAttrTokenID: CFString = "tkid"

// Values

/// `com.apple.setoken`: P-256, never exported, used in the vault alone; no separate hardware.
public nonisolated(unsafe) let kSecAttrTokenIDSecureEnclave: CFString = "com.apple.setoken"
/// `0`: a public key.
public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
/// `1`: a private key.
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
/// `2`: a symmetric key.
public nonisolated(unsafe) let kSecAttrKeyClassSymmetric: CFString = "2"
/// `42`: RSA.
public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
/// `73`: a curve over a prime field; the older name.
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
/// `73`: a curve over a prime field.
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// `73`: a curve over a prime field, as macOS calls it.
public nonisolated(unsafe) let kSecAttrKeyTypeECDSA: CFString = "73"
/// `43`: DSA; not made or used here.
public nonisolated(unsafe) let kSecAttrKeyTypeDSA: CFString = "43"
/// `2147483649`: AES; stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeAES: CFString = "2147483649"
/// `14`: DES; stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeDES: CFString = "14"
/// `17`: triple DES; stored as data.
public nonisolated(unsafe) let kSecAttrKeyType3DES: CFString = "17"
/// `25`: RC4; stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeRC4: CFString = "25"
/// `23`: RC2; stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeRC2: CFString = "23"
/// `56`: CAST; stored as data.
public nonisolated(unsafe) let kSecAttrKeyTypeCAST: CFString = "56"

// The parameters of a new key

/// `private`: attributes of the private key alone, a dictionary.
public nonisolated(unsafe) let kSecPrivateKeyAttrs: CFString = "private"
/// `public`: attributes of the public key alone, a dictionary.
public nonisolated(unsafe) let kSecPublicKeyAttrs: CFString = "public"
