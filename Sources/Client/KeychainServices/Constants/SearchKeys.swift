public import Foundation

// The keys of a query: conditions, results, values, and options.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

// Matching

/// `m_Limit`: how many items to return: `kSecMatchLimitOne`, `kSecMatchLimitAll` or a number.
public nonisolated(unsafe) let kSecMatchLimit: CFString = "m_Limit"
/// `m_LimitOne`: one item. The default of `SecItemCopyMatching`.
public nonisolated(unsafe) let kSecMatchLimitOne: CFString = "m_LimitOne"
/// `m_LimitAll`: all items.
public nonisolated(unsafe) let kSecMatchLimitAll: CFString = "m_LimitAll"
/// `m_CaseInsensitive`: whether strings are compared without regard to case, a Boolean.
public nonisolated(unsafe) let kSecMatchCaseInsensitive: CFString = "m_CaseInsensitive"
/// `m_ItemList`: the references of the items to search, an array.
public nonisolated(unsafe) let kSecMatchItemList: CFString = "m_ItemList"
/// `m_SearchList`: the keychains to search. Whorl has one store.
public nonisolated(unsafe) let kSecMatchSearchList: CFString = "m_SearchList"
/// `m_Policy`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchPolicy: CFString = "m_Policy"
/// `m_Issuers`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchIssuers: CFString = "m_Issuers"
/// `m_EmailAddressIfPresent`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchEmailAddressIfPresent: CFString = "m_EmailAddressIfPresent"
/// `m_SubjectContains`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchSubjectContains: CFString = "m_SubjectContains"
/// `m_SubjectStartsWith`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchSubjectStartsWith: CFString = "m_SubjectStartsWith"
/// `m_SubjectEndsWith`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchSubjectEndsWith: CFString = "m_SubjectEndsWith"
/// `m_SubjectWholeString`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchSubjectWholeString: CFString = "m_SubjectWholeString"
/// `m_DiacriticInsensitive`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchDiacriticInsensitive: CFString = "m_DiacriticInsensitive"
/// `m_WidthInsensitive`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchWidthInsensitive: CFString = "m_WidthInsensitive"
/// `m_TrustedOnly`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchTrustedOnly: CFString = "m_TrustedOnly"
/// `m_ValidOnDate`: a condition on certificates.
public nonisolated(unsafe) let kSecMatchValidOnDate: CFString = "m_ValidOnDate"

// Results

/// `r_Data`: whether the secret is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnData: CFString = "r_Data"
/// `r_Attributes`: whether the attributes are returned, a Boolean.
public nonisolated(unsafe) let kSecReturnAttributes: CFString = "r_Attributes"
/// `r_Ref`: whether a reference is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnRef: CFString = "r_Ref"
/// `r_PersistentRef`: whether a reference that outlives the process is returned, a Boolean.
public nonisolated(unsafe) let kSecReturnPersistentRef: CFString = "r_PersistentRef"

// Values

/// `v_Data`: the secret, data.
public nonisolated(unsafe) let kSecValueData: CFString = "v_Data"
/// `v_Ref`: a `SecKey`, a `SecCertificate`, a `SecIdentity`, or the reference of a password.
public nonisolated(unsafe) let kSecValueRef: CFString = "v_Ref"
/// `v_PersistentRef`: a persistent reference, data.
public nonisolated(unsafe) let kSecValuePersistentRef: CFString = "v_PersistentRef"

// Options

/// `u_ItemList`: items to search instead of the store. Not implemented.
public nonisolated(unsafe) let kSecUseItemList: CFString = "u_ItemList"
/// `u_Keychain`: the keychain to add to. Whorl has one store.
public nonisolated(unsafe) let kSecUseKeychain: CFString = "u_Keychain"
/// `u_OpPrompt`: the reason that the prompt for a finger shows, a string.
public nonisolated(unsafe) let kSecUseOperationPrompt: CFString = "u_OpPrompt"
/// `u_NoAuthUI`: whether to fail instead of asking for a finger. The older form.
public nonisolated(unsafe) let kSecUseNoAuthenticationUI: CFString = "u_NoAuthUI"
/// `u_AuthUI`: one of `kSecUseAuthenticationUI…`.
public nonisolated(unsafe) let kSecUseAuthenticationUI: CFString = "u_AuthUI"
/// `u_AuthUIA`: ask the user. The default.
public nonisolated(unsafe) let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
/// `u_AuthUIF`: fail with `errSecInteractionNotAllowed` instead of asking.
public nonisolated(unsafe) let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
/// `u_AuthUIS`: skip the items that need a prompt.
public nonisolated(unsafe) let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// `u_AuthCtx`: an `LAContext`.
public nonisolated(unsafe) let kSecUseAuthenticationContext: CFString = "u_AuthCtx"
/// `nleg`: accepted without effect, because Whorl has one store.
public nonisolated(unsafe) let kSecUseDataProtectionKeychain: CFString = "nleg"
/// `u_UserIndependentKeychain`: accepted without effect, because Whorl has one store.
public nonisolated(unsafe) let kSecUseUserIndependentKeychain: CFString = "u_UserIndependentKeychain"
