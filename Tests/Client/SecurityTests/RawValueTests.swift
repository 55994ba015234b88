import Security
import Testing

/// Raw values occur in files, protocols and other programs' tests, so each must be exactly Apple's.
@Suite("Raw values")
struct RawValueTests {
  @Test("kSecAttrAccessible constants have Apple's raw values")
  func accessibleValues() {
    let values: [(CFString, String)] = [
      (kSecAttrAccessibleWhenUnlocked, "ak"), (kSecAttrAccessibleAfterFirstUnlock, "ck"),
      (kSecAttrAccessibleAlways, "dk"), (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "akpu"),
      (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku"),
      (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "cku"), (kSecAttrAccessibleAlwaysThisDeviceOnly, "dku"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }

  @Test("constants for protocols and types of authentication have Apple's raw values")
  func internetPasswordValues() {
    let values: [(CFString, String)] = [
      (kSecAttrProtocolFTP, "ftp "), (kSecAttrProtocolFTPAccount, "ftpa"), (kSecAttrProtocolHTTP, "http"),
      (kSecAttrProtocolIRC, "irc "), (kSecAttrProtocolNNTP, "nntp"), (kSecAttrProtocolPOP3, "pop3"),
      (kSecAttrProtocolSMTP, "smtp"), (kSecAttrProtocolSOCKS, "sox "), (kSecAttrProtocolIMAP, "imap"),
      (kSecAttrProtocolLDAP, "ldap"), (kSecAttrProtocolAppleTalk, "atlk"), (kSecAttrProtocolAFP, "afp "),
      (kSecAttrProtocolTelnet, "teln"), (kSecAttrProtocolSSH, "ssh "), (kSecAttrProtocolFTPS, "ftps"),
      (kSecAttrProtocolHTTPS, "htps"), (kSecAttrProtocolHTTPProxy, "htpx"), (kSecAttrProtocolHTTPSProxy, "htsx"),
      (kSecAttrProtocolFTPProxy, "ftpx"), (kSecAttrProtocolSMB, "smb "), (kSecAttrProtocolRTSP, "rtsp"),
      (kSecAttrProtocolRTSPProxy, "rtsx"), (kSecAttrProtocolDAAP, "daap"), (kSecAttrProtocolEPPC, "eppc"),
      (kSecAttrProtocolIPP, "ipp "), (kSecAttrProtocolNNTPS, "ntps"), (kSecAttrProtocolLDAPS, "ldps"),
      (kSecAttrProtocolTelnetS, "tels"), (kSecAttrProtocolIMAPS, "imps"), (kSecAttrProtocolIRCS, "ircs"),
      (kSecAttrProtocolPOP3S, "pops"), (kSecAttrAuthenticationTypeNTLM, "ntlm"),
      (kSecAttrAuthenticationTypeMSN, "msna"), (kSecAttrAuthenticationTypeDPA, "dpaa"),
      (kSecAttrAuthenticationTypeRPA, "rpaa"), (kSecAttrAuthenticationTypeHTTPBasic, "http"),
      (kSecAttrAuthenticationTypeHTTPDigest, "httd"), (kSecAttrAuthenticationTypeHTMLForm, "form"),
      (kSecAttrAuthenticationTypeDefault, "dflt"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }

  @Test("constants for attributes of items have Apple's raw values")
  func itemAttributeKeys() {
    let values: [(CFString, String)] = [
      (kSecAttrAccessible, "pdmn"), (kSecAttrAccessControl, "accc"), (kSecAttrAccessGroup, "agrp"),
      (kSecAttrSynchronizable, "sync"), (kSecAttrSynchronizableAny, "syna"), (kSecAttrCreationDate, "cdat"),
      (kSecAttrModificationDate, "mdat"), (kSecAttrLabel, "labl"), (kSecAttrAccessGroupToken, "com.apple.token"),
      (kSecAttrSyncViewHint, "vwht"), (kSecAttrPersistantReference, "persistref"),
      (kSecAttrPersistentReference, "persistref"), (kSecAttrDescription, "desc"), (kSecAttrComment, "icmt"),
      (kSecAttrCreator, "crtr"), (kSecAttrType, "type"), (kSecAttrIsInvisible, "invi"), (kSecAttrIsNegative, "nega"),
      (kSecAttrAccount, "acct"), (kSecAttrService, "svce"), (kSecAttrGeneric, "gena"),
      (kSecAttrSecurityDomain, "sdmn"), (kSecAttrServer, "srvr"), (kSecAttrProtocol, "ptcl"),
      (kSecAttrAuthenticationType, "atyp"), (kSecAttrPort, "port"), (kSecAttrPath, "path"),
      (kSecAttrSubject, "subj"), (kSecAttrIssuer, "issr"), (kSecAttrSerialNumber, "slnr"),
      (kSecAttrSubjectKeyID, "skid"), (kSecAttrPublicKeyHash, "pkhh"), (kSecAttrCertificateType, "ctyp"),
      (kSecAttrCertificateEncoding, "cenc"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }

  @Test("kSecClass constants have Apple's raw values")
  func itemClassNames() {
    let values: [(CFString, String)] = [
      (kSecClass, "class"), (kSecClassGenericPassword, "genp"), (kSecClassInternetPassword, "inet"),
      (kSecClassCertificate, "cert"), (kSecClassKey, "keys"), (kSecClassIdentity, "idnt"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }

  @Test("constants for attributes of keys, and for their values, have Apple's raw values")
  func keyAttributeKeys() {
    let values: [(CFString, String)] = [
      (kSecAttrKeyClass, "kcls"), (kSecAttrApplicationLabel, "klbl"), (kSecAttrApplicationTag, "atag"),
      (kSecAttrKeyType, "type"), (kSecAttrKeyCreator, "crtr"), (kSecAttrKeySizeInBits, "bsiz"),
      (kSecAttrEffectiveKeySize, "esiz"), (kSecAttrStartDate, "sdat"), (kSecAttrEndDate, "edat"),
      (kSecAttrIsPermanent, "perm"), (kSecAttrIsPrivate, "priv"), (kSecAttrIsModifiable, "modi"),
      (kSecAttrIsSensitive, "sens"), (kSecAttrWasAlwaysSensitive, "asen"), (kSecAttrIsExtractable, "extr"),
      (kSecAttrWasNeverExtractable, "next"), (kSecAttrCanEncrypt, "encr"), (kSecAttrCanDecrypt, "decr"),
      (kSecAttrCanDerive, "drve"), (kSecAttrCanSign, "sign"), (kSecAttrCanVerify, "vrfy"),
      (kSecAttrCanSignRecover, "snrc"), (kSecAttrCanVerifyRecover, "vyrc"), (kSecAttrCanWrap, "wrap"),
      (kSecAttrCanUnwrap, "unwp"), (kSecAttrTokenID, "tkid"), (kSecAttrTokenIDSecureEnclave, "com.apple.setoken"),
      (kSecAttrKeyClassPublic, "0"), (kSecAttrKeyClassPrivate, "1"), (kSecAttrKeyClassSymmetric, "2"),
      (kSecAttrKeyTypeRSA, "42"), (kSecAttrKeyTypeEC, "73"), (kSecAttrKeyTypeECSECPrimeRandom, "73"),
      (kSecAttrKeyTypeECDSA, "73"), (kSecAttrKeyTypeDSA, "43"), (kSecAttrKeyTypeAES, "2147483649"),
      (kSecAttrKeyTypeDES, "14"), (kSecAttrKeyType3DES, "17"), (kSecAttrKeyTypeRC4, "25"),
      (kSecAttrKeyTypeRC2, "23"), (kSecAttrKeyTypeCAST, "56"), (kSecPrivateKeyAttrs, "private"),
      (kSecPublicKeyAttrs, "public"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }

  @Test("kSecMatch, kSecReturn, kSecValue and kSecUse constants have Apple's raw values")
  func searchKeys() {
    let values: [(CFString, String)] = [
      (kSecMatchLimit, "m_Limit"), (kSecMatchLimitOne, "m_LimitOne"), (kSecMatchLimitAll, "m_LimitAll"),
      (kSecMatchCaseInsensitive, "m_CaseInsensitive"), (kSecMatchItemList, "m_ItemList"),
      (kSecMatchSearchList, "m_SearchList"), (kSecMatchPolicy, "m_Policy"), (kSecMatchIssuers, "m_Issuers"),
      (kSecMatchEmailAddressIfPresent, "m_EmailAddressIfPresent"), (kSecMatchSubjectContains, "m_SubjectContains"),
      (kSecMatchSubjectStartsWith, "m_SubjectStartsWith"), (kSecMatchSubjectEndsWith, "m_SubjectEndsWith"),
      (kSecMatchSubjectWholeString, "m_SubjectWholeString"),
      (kSecMatchDiacriticInsensitive, "m_DiacriticInsensitive"), (kSecMatchWidthInsensitive, "m_WidthInsensitive"),
      (kSecMatchTrustedOnly, "m_TrustedOnly"), (kSecMatchValidOnDate, "m_ValidOnDate"), (kSecReturnData, "r_Data"),
      (kSecReturnAttributes, "r_Attributes"), (kSecReturnRef, "r_Ref"), (kSecReturnPersistentRef, "r_PersistentRef"),
      (kSecValueData, "v_Data"), (kSecValueRef, "v_Ref"), (kSecValuePersistentRef, "v_PersistentRef"),
      (kSecUseItemList, "u_ItemList"), (kSecUseKeychain, "u_Keychain"), (kSecUseOperationPrompt, "u_OpPrompt"),
      (kSecUseNoAuthenticationUI, "u_NoAuthUI"), (kSecUseAuthenticationUI, "u_AuthUI"),
      (kSecUseAuthenticationUIAllow, "u_AuthUIA"), (kSecUseAuthenticationUIFail, "u_AuthUIF"),
      (kSecUseAuthenticationUISkip, "u_AuthUIS"), (kSecUseAuthenticationContext, "u_AuthCtx"),
      (kSecUseDataProtectionKeychain, "nleg"), (kSecUseUserIndependentKeychain, "u_UserIndependentKeychain"),
    ]
    for (constant, value) in values { #expect(constant as String == value) }
  }
}
