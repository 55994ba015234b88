public import Foundation

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
