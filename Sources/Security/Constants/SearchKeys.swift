public import Foundation

// The keys of a search: what matches, what is returned, what is given, and how it is gone about.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

// Matching

/// `m_Limit`: how many items: `kSecMatchLimitOne`, `kSecMatchLimitAll` or a number.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
/// `m_LimitOne`: one item, the default of a copy.
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
/// `m_LimitAll`: all items.
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
/// `m_CaseInsensitive`: whether texts are compared without regard to case, a Boolean.
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// `m_ItemList`: only these references, an array.
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
/// `m_SearchList`: the keychains to search; there is one store here.
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
/// `m_Policy`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
/// `m_Issuers`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
/// `m_EmailAddressIfPresent`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// `m_SubjectContains`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// `m_SubjectStartsWith`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// `m_SubjectEndsWith`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// `m_SubjectWholeString`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// `m_DiacriticInsensitive`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// `m_WidthInsensitive`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// `m_TrustedOnly`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// `m_ValidOnDate`: a condition of certificates.
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// Returning

/// `r_Data`: whether the secret is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
/// `r_Attributes`: whether the attributes are returned, a Boolean.
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
/// `r_Ref`: whether a reference is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
/// `r_PersistentRef`: whether a reference that outlives the process is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// Given

/// `v_Data`: the secret, data.
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// `v_Ref`: a `SecKey`, a `SecCertificate`, a `SecIdentity`, or the reference of a password.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
/// `v_PersistentRef`: a persistent reference, data.
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

// How it is gone about

/// `u_ItemList`: items to look through in place of the store; not implemented.
public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
/// `u_Keychain`: the keychain to add to; there is one store here.
public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"
/// `u_OpPrompt`: the reason shown where a finger is asked for, text.
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// `u_NoAuthUI`: whether to fail where a finger would be asked for; the older form.
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// `u_AuthUI`: one of `kSecUseAuthenticationUI…`.
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// `u_AuthUIA`: ask; the default.
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// `u_AuthUIF`: fail with `errSecInteractionNotAllowed` instead of asking.
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// `u_AuthUIS`: leave out the items that would ask.
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// `u_AuthCtx`: an `LAContext`.
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// `nleg`: accepted; there is one store here.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
/// `u_UserIndependentKeychain`: accepted; there is one store here.
public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
