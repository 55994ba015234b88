public import Foundation

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
