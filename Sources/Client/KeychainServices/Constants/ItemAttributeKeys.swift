public import Foundation

// The constants of items.

// The keys of the attributes of passwords, and of the attributes that every class has.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

// Every class

/// `pdmn`: when the item is accessible, one of `kSecAttrAccessible…`.
public nonisolated(unsafe) let kSecAttrAccessible: CFString = "pdmn"
/// `accc`: a `SecAccessControl`.
public nonisolated(unsafe) let kSecAttrAccessControl: CFString = "accc"
/// `agrp`: the access group, a string.
public nonisolated(unsafe) let kSecAttrAccessGroup: CFString = "agrp"
/// `sync`: whether the item is synchronizable, a Boolean.
public nonisolated(unsafe) let kSecAttrSynchronizable: CFString = "sync"
/// `syna`: as the value of `kSecAttrSynchronizable` in a search, matches synchronizable items and others.
public nonisolated(unsafe) let kSecAttrSynchronizableAny: CFString = "syna"
/// `cdat`: when the item was added.
public nonisolated(unsafe) let kSecAttrCreationDate: CFString = "cdat"
/// `mdat`: when the item was last changed.
public nonisolated(unsafe) let kSecAttrModificationDate: CFString = "mdat"
/// `labl`: a label for display, a string.
public nonisolated(unsafe) let kSecAttrLabel: CFString = "labl"
/// `com.apple.token`: the access group of hardware tokens, which Whorl does not have.
public nonisolated(unsafe) let kSecAttrAccessGroupToken: CFString = "com.apple.token"
/// `vwht`: a hint for synchronization.
public nonisolated(unsafe) let kSecAttrSyncViewHint: CFString = "vwht"
/// `persistref`: the persistent reference among the attributes.
public nonisolated(unsafe) let kSecAttrPersistantReference: CFString = "persistref"
/// `persistref`: the persistent reference among the attributes.
public nonisolated(unsafe) let kSecAttrPersistentReference: CFString = "persistref"

// Passwords

/// `desc`: the kind of item, a string.
public nonisolated(unsafe) let kSecAttrDescription: CFString = "desc"
/// `icmt`: a comment, a string.
public nonisolated(unsafe) let kSecAttrComment: CFString = "icmt"
/// `crtr`: the creator, a number.
public nonisolated(unsafe) let kSecAttrCreator: CFString = "crtr"
/// `type`: the type, a number.
public nonisolated(unsafe) let kSecAttrType: CFString = "type"
/// `invi`: whether the item is hidden from lists, a Boolean.
public nonisolated(unsafe) let kSecAttrIsInvisible: CFString = "invi"
/// `nega`: whether there is no valid password, a Boolean.
public nonisolated(unsafe) let kSecAttrIsNegative: CFString = "nega"
/// `acct`: the account, a string.
public nonisolated(unsafe) let kSecAttrAccount: CFString = "acct"

// Generic passwords

/// `svce`: the service, a string.
public nonisolated(unsafe) let kSecAttrService: CFString = "svce"
/// `gena`: data of the program's own.
public nonisolated(unsafe) let kSecAttrGeneric: CFString = "gena"

// Internet passwords

/// `sdmn`: the security domain, a string.
public nonisolated(unsafe) let kSecAttrSecurityDomain: CFString = "sdmn"
/// `srvr`: the server, a string.
public nonisolated(unsafe) let kSecAttrServer: CFString = "srvr"
/// `ptcl`: the protocol, one of `kSecAttrProtocol…`.
public nonisolated(unsafe) let kSecAttrProtocol: CFString = "ptcl"
/// `atyp`: the authentication type, one of `kSecAttrAuthenticationType…`.
public nonisolated(unsafe) let kSecAttrAuthenticationType: CFString = "atyp"
/// `port`: the port, a number.
public nonisolated(unsafe) let kSecAttrPort: CFString = "port"
/// `path`: the path, a string.
public nonisolated(unsafe) let kSecAttrPath: CFString = "path"

// Certificates

/// `subj`: the subject of a certificate: its X.501 name in DER, normalized and without its header, data. A search takes the
/// whole name, too.
public nonisolated(unsafe) let kSecAttrSubject: CFString = "subj"
/// `issr`: the issuer of a certificate, data in the form of the subject.
public nonisolated(unsafe) let kSecAttrIssuer: CFString = "issr"
/// `slnr`: the serial number of a certificate: the content of its DER integer, data.
public nonisolated(unsafe) let kSecAttrSerialNumber: CFString = "slnr"
/// `skid`: the subject key identifier of a certificate, data; absent where the certificate has none.
public nonisolated(unsafe) let kSecAttrSubjectKeyID: CFString = "skid"
/// `pkhh`: SHA-1 of a certificate's public key, data; `kSecAttrApplicationLabel` of that key.
public nonisolated(unsafe) let kSecAttrPublicKeyHash: CFString = "pkhh"
/// `ctyp`: the version of X.509 of a certificate, a number: 1, 2 or 3.
public nonisolated(unsafe) let kSecAttrCertificateType: CFString = "ctyp"
/// `cenc`: the encoding of a certificate, a number: always 3, which is DER.
public nonisolated(unsafe) let kSecAttrCertificateEncoding: CFString = "cenc"

// The item classes, and the key of an item's class.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `class`: the key of an item's class.
public nonisolated(unsafe) let kSecClass: CFString = "class"
/// `genp`: a generic password.
public nonisolated(unsafe) let kSecClassGenericPassword: CFString = "genp"
/// `inet`: an internet password, for an account on a server.
public nonisolated(unsafe) let kSecClassInternetPassword: CFString = "inet"
/// `cert`: a certificate, one for each version, issuer and serial number.
public nonisolated(unsafe) let kSecClassCertificate: CFString = "cert"
/// `keys`: a cryptographic key.
public nonisolated(unsafe) let kSecClassKey: CFString = "keys"
/// `idnt`: a certificate and its private key, which are stored as those two and found as one.
public nonisolated(unsafe) let kSecClassIdentity: CFString = "idnt"

// The values of `kSecAttrAccessible`, which are also the protections of an access control.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

/// `ak`: accessible while the user is logged in. The default.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
/// `ck`: accessible after the first login since the machine started.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
/// `dk`: always accessible. Deprecated, and treated like `ck`.
public nonisolated(unsafe) let kSecAttrAccessibleAlways: CFString = "dk"
/// `akpu`: accessible while a passcode is set. The item is deleted with the passcode.
public nonisolated(unsafe) let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"
/// `aku`: like `ak`, and never moved to another device.
public nonisolated(unsafe) let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
/// `cku`: like `ck`, and never moved to another device.
public nonisolated(unsafe) let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
/// `dku`: like `dk`, and never moved to another device. Deprecated.
public nonisolated(unsafe) let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"

// The values of `kSecAttrProtocol` and `kSecAttrAuthenticationType`.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

// Protocols

/// `ftp `: FTP.
public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "
/// `ftpa`: FTP, a client-side account.
public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// `http`: HTTP.
public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"
/// `irc `: IRC.
public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "
/// `nntp`: NNTP.
public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"
/// `pop3`: POP3.
public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"
/// `smtp`: SMTP.
public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"
/// `sox `: SOCKS.
public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "
/// `imap`: IMAP.
public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"
/// `ldap`: LDAP.
public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"
/// `atlk`: AFP over AppleTalk.
public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// `afp `: AFP over TCP.
public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "
/// `teln`: Telnet.
public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"
/// `ssh `: SSH.
public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "
/// `ftps`: FTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"
/// `htps`: HTTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"
/// `htpx`: an HTTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// `htsx`: an HTTPS proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// `ftpx`: an FTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// `smb `: SMB.
public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "
/// `rtsp`: RTSP.
public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"
/// `rtsx`: an RTSP proxy.
public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// `daap`: DAAP.
public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"
/// `eppc`: remote Apple events.
public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"
/// `ipp `: IPP.
public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "
/// `ntps`: NNTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"
/// `ldps`: LDAP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"
/// `tels`: Telnet over TLS.
public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"
/// `imps`: IMAP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"
/// `ircs`: IRC over TLS.
public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"
/// `pops`: POP3 over TLS.
public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"

// Authentication types

/// `ntlm`: NTLM.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// `msna`: the default of MSN (Microsoft Network).
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// `dpaa`: distributed password authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// `rpaa`: remote password authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// `http`: HTTP Basic.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// `httd`: HTTP Digest.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// `form`: an HTML form.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// `dflt`: the default.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"

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
