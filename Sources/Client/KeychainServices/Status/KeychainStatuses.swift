// swift-format-ignore-file: AlwaysUseLowerCamelCase

// The statuses that calls return, and their messages.
//
// The names are Apple's.

public import Foundation

// The statuses that calls of this module return. The others are in RareStatuses.swift.

/// 0: success.
public let errSecSuccess: OSStatus = 0
/// −4: this is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// −34: the disk is full.
public let errSecDiskFull: OSStatus = -34
/// −34: the disk is full.
public let errSecDskFull: OSStatus = -34
/// −36: reading or writing failed.
public let errSecIO: OSStatus = -36
/// −49: the file is already open for writing.
public let errSecOpWr: OSStatus = -49
/// −50: a parameter is not valid here.
public let errSecParam: OSStatus = -50
/// −61: writing is not permitted.
public let errSecWrPerm: OSStatus = -61
/// −108: there is not enough memory.
public let errSecAllocate: OSStatus = -108
/// −128: the user cancelled.
public let errSecUserCanceled: OSStatus = -128
/// −909: the request is invalid, or not allowed at this time.
public let errSecBadReq: OSStatus = -909
/// −2070: an internal component failed.
public let errSecInternalComponent: OSStatus = -2070
/// −4960: an unknown error of Core Foundation.
public let errSecCoreFoundationUnknown: OSStatus = -4960
/// −34018: an entitlement is missing.
public let errSecMissingEntitlement: OSStatus = -34018
/// −34020: the program may not use this call.
public let errSecRestrictedAPI: OSStatus = -34020
/// −25291: no store is available.
public let errSecNotAvailable: OSStatus = -25291
/// −25292: the store cannot be changed.
public let errSecReadOnly: OSStatus = -25292
/// −25293: authentication failed.
public let errSecAuthFailed: OSStatus = -25293
/// −25294: there is no such store.
public let errSecNoSuchKeychain: OSStatus = -25294
/// −25295: the store is damaged or is not a store.
public let errSecInvalidKeychain: OSStatus = -25295
/// −25296: a store with this name already exists.
public let errSecDuplicateKeychain: OSStatus = -25296
/// −25297: the callback is already installed.
public let errSecDuplicateCallback: OSStatus = -25297
/// −25298: the callback is not valid.
public let errSecInvalidCallback: OSStatus = -25298
/// −25299: the item already exists.
public let errSecDuplicateItem: OSStatus = -25299
/// −25300: the item does not exist.
public let errSecItemNotFound: OSStatus = -25300
/// −25301: the buffer is too small.
public let errSecBufferTooSmall: OSStatus = -25301
/// −25302: the secret is too long.
public let errSecDataTooLarge: OSStatus = -25302
/// −25303: items of this class have no such attribute.
public let errSecNoSuchAttr: OSStatus = -25303
/// −25304: the reference is not that of an item.
public let errSecInvalidItemRef: OSStatus = -25304
/// −25305: the search is not valid.
public let errSecInvalidSearchRef: OSStatus = -25305
/// −25306: the item class does not exist.
public let errSecNoSuchClass: OSStatus = -25306
/// −25307: there is no default store.
public let errSecNoDefaultKeychain: OSStatus = -25307
/// −25308: the user would have to be asked, which is not allowed.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// −25309: the attribute cannot be changed.
public let errSecReadOnlyAttr: OSStatus = -25309
/// −25310: the store has a newer format.
public let errSecWrongSecVersion: OSStatus = -25310
/// −25311: keys of this size are not supported.
public let errSecKeySizeNotAllowed: OSStatus = -25311
/// −25312: a storage module is missing.
public let errSecNoStorageModule: OSStatus = -25312
/// −25313: a certificate module is missing.
public let errSecNoCertificateModule: OSStatus = -25313
/// −25314: a policy module is missing.
public let errSecNoPolicyModule: OSStatus = -25314
/// −25315: the user must be asked.
public let errSecInteractionRequired: OSStatus = -25315
/// −25316: the secret is not available.
public let errSecDataNotAvailable: OSStatus = -25316
/// −25317: the secret cannot be changed.
public let errSecDataNotModifiable: OSStatus = -25317
/// −25318: a certificate of the chain is missing.
public let errSecCreateChainFailed: OSStatus = -25318
/// −25319: the preferences domain is not valid.
public let errSecInvalidPrefsDomain: OSStatus = -25319
/// −25320: the user cannot be asked while the machine is in dark wake.
public let errSecInDarkWake: OSStatus = -25320
/// −25240: the access control list is not in simple form.
public let errSecACLNotSimple: OSStatus = -25240
/// −25241: the policy does not exist.
public let errSecPolicyNotFound: OSStatus = -25241
/// −25242: the trust setting is not valid.
public let errSecInvalidTrustSetting: OSStatus = -25242
/// −25243: the item has no access control.
public let errSecNoAccessForItem: OSStatus = -25243
/// −25244: the owner cannot be changed in this way.
public let errSecInvalidOwnerEdit: OSStatus = -25244
/// −25245: no trust results are available.
public let errSecTrustNotAvailable: OSStatus = -25245
/// −25256: the format is not supported.
public let errSecUnsupportedFormat: OSStatus = -25256
/// −9809: the signature is not valid; returned by ``SecKeyRawVerify(_:_:_:_:_:_:)``.
public let errSSLCrypto: OSStatus = -9809
/// −25257: the format is not known.
public let errSecUnknownFormat: OSStatus = -25257
/// −25258: the key can only be exported wrapped.
public let errSecKeyIsSensitive: OSStatus = -25258
/// −25259: there is more than one private key.
public let errSecMultiplePrivKeys: OSStatus = -25259
/// −25260: a passphrase is needed.
public let errSecPassphraseRequired: OSStatus = -25260
/// −25261: the password reference is not valid.
public let errSecInvalidPasswordRef: OSStatus = -25261
/// −25262: the trust settings are damaged.
public let errSecInvalidTrustSettings: OSStatus = -25262
/// −25263: there are no trust settings.
public let errSecNoTrustSettings: OSStatus = -25263
/// −25264: the PKCS #12 data does not verify.
public let errSecPkcs12VerifyFailure: OSStatus = -25264
/// −26267: the certificate was not signed by the given issuer.
public let errSecNotSigner: OSStatus = -26267
/// −26275: the data could not be decoded.
public let errSecDecode: OSStatus = -26275

/// The messages of the statuses that calls of this module return.
let statusMessages: [OSStatus: String] = [
  0: "No error.",
  -4: "This is not implemented.",
  -34: "The disk is full.",
  -36: "Reading or writing failed.",
  -49: "The file is already open for writing.",
  -50: "A parameter is not valid.",
  -61: "Writing is not permitted.",
  -108: "There is not enough memory.",
  -128: "The user cancelled.",
  -909: "The request is not valid, or not valid now.",
  -2070: "An internal component failed.",
  -4960: "An unknown error of Core Foundation.",
  -9809: "The signature does not verify.",
  -34018: "An entitlement is missing.",
  -34020: "The program is not allowed to make this call.",
  -25291: "No store is available.",
  -25292: "The store is read-only.",
  -25293: "Authentication failed.",
  -25294: "There is no such store.",
  -25295: "The store is damaged or not a store.",
  -25296: "A store of this name already exists.",
  -25297: "The callback is already installed.",
  -25298: "The callback is not valid.",
  -25299: "The item already exists.",
  -25300: "The item was not found.",
  -25301: "The buffer is too small.",
  -25302: "The secret is too long.",
  -25303: "Items of this class have no such attribute.",
  -25304: "The item reference is not valid.",
  -25305: "The search is not valid.",
  -25306: "The item class does not exist.",
  -25307: "There is no default store.",
  -25308: "User interaction is required, but not allowed.",
  -25309: "The attribute cannot be changed.",
  -25310: "The store has a newer format.",
  -25311: "The key size is not supported.",
  -25312: "A storage module is missing.",
  -25313: "A certificate module is missing.",
  -25314: "A policy module is missing.",
  -25315: "User interaction is required.",
  -25316: "The secret is not available.",
  -25317: "The secret cannot be changed.",
  -25318: "A certificate of the chain is missing.",
  -25319: "The preference domain is not valid.",
  -25320: "User interaction is not possible in dark wake.",
  -25240: "The access control list is not in the simple form.",
  -25241: "There is no such policy.",
  -25242: "The trust setting is not valid.",
  -25243: "The item has no access control.",
  -25244: "This change of the owner is not valid.",
  -25245: "No trust results are available.",
  -25256: "The format is not supported.",
  -25257: "The format is unknown.",
  -25258: "The key can only be exported wrapped.",
  -25259: "There is more than one private key.",
  -25260: "A passphrase is required.",
  -25261: "The password reference is not valid.",
  -25262: "The trust settings are damaged.",
  -25263: "There are no trust settings.",
  -25264: "The PKCS #12 data does not verify.",
  -26267: "The certificate was not signed by the given issuer.",
  -26275: "The data could not be decoded.",
]

/// The English message of a status. Never nil; optional because Apple's result is.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
  words(for: status) as NSString
}

/// The message of a status.
func words(for status: OSStatus) -> String {
  if let message = statusMessages[status] { return message }
  let index = Int(firstRareStatus) - Int(status)
  let names = rareStatusNames.split(separator: " ")
  guard names.indices.contains(index) else { return "OSStatus \(status)." }
  return sentence(from: names[index])
}

/// Turns "InvalidKeyUsageMask" into "Invalid key usage mask." Abbreviations keep their case.
private func sentence(from name: Substring) -> String {
  var parts: [String] = []
  let letters = Array(name)
  for (index, letter) in letters.enumerated() {
    let afterSmall = index > 0 && !letters[index - 1].isUppercase
    let beforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
    if letter.isUppercase, index > 0, afterSmall || beforeSmall { parts.append("") }
    if parts.isEmpty { parts.append("") }
    parts[parts.count - 1].append(letter)
  }
  let words = parts.enumerated().map { index, part in
    index == 0 || part.dropFirst().contains(where: \.isUppercase) ? part : part.lowercased()
  }
  return words.joined(separator: " ") + "."
}
