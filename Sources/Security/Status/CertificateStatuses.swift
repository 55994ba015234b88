// Statuses of databases, certificates, revocation and code signing:
// source code names them, calls of this module never answer them.

/// −67585: service not available.
public let errSecServiceNotAvailable: OSStatus = -67585
/// −67586: insufficient client ID.
public let errSecInsufficientClientID: OSStatus = -67586
/// −67587: device reset.
public let errSecDeviceReset: OSStatus = -67587
/// −67588: device failed.
public let errSecDeviceFailed: OSStatus = -67588
/// −67589: apple add app ACL subject.
public let errSecAppleAddAppACLSubject: OSStatus = -67589
/// −67590: apple public key incomplete.
public let errSecApplePublicKeyIncomplete: OSStatus = -67590
/// −67591: apple signature mismatch.
public let errSecAppleSignatureMismatch: OSStatus = -67591
/// −67592: apple invalid key start date.
public let errSecAppleInvalidKeyStartDate: OSStatus = -67592
/// −67593: apple invalid key end date.
public let errSecAppleInvalidKeyEndDate: OSStatus = -67593
/// −67594: conversion error.
public let errSecConversionError: OSStatus = -67594
/// −67595: apple SS lv2 rollback.
public let errSecAppleSSLv2Rollback: OSStatus = -67595
/// −67596: quota exceeded.
public let errSecQuotaExceeded: OSStatus = -67596
/// −67597: file too big.
public let errSecFileTooBig: OSStatus = -67597
/// −67598: invalid database blob.
public let errSecInvalidDatabaseBlob: OSStatus = -67598
/// −67599: invalid key blob.
public let errSecInvalidKeyBlob: OSStatus = -67599
/// −67600: incompatible database blob.
public let errSecIncompatibleDatabaseBlob: OSStatus = -67600
/// −67601: incompatible key blob.
public let errSecIncompatibleKeyBlob: OSStatus = -67601
/// −67602: host name mismatch.
public let errSecHostNameMismatch: OSStatus = -67602
/// −67603: unknown critical extension flag.
public let errSecUnknownCriticalExtensionFlag: OSStatus = -67603
/// −67604: no basic constraints.
public let errSecNoBasicConstraints: OSStatus = -67604
/// −67605: no basic constraints CA.
public let errSecNoBasicConstraintsCA: OSStatus = -67605
/// −67606: invalid authority key ID.
public let errSecInvalidAuthorityKeyID: OSStatus = -67606
/// −67607: invalid subject key ID.
public let errSecInvalidSubjectKeyID: OSStatus = -67607
/// −67608: invalid key usage for policy.
public let errSecInvalidKeyUsageForPolicy: OSStatus = -67608
/// −67609: invalid extended key usage.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// −67610: invalid ID linkage.
public let errSecInvalidIDLinkage: OSStatus = -67610
/// −67611: path length constraint exceeded.
public let errSecPathLengthConstraintExceeded: OSStatus = -67611
/// −67612: invalid root.
public let errSecInvalidRoot: OSStatus = -67612
/// −67613: CRL expired.
public let errSecCRLExpired: OSStatus = -67613
/// −67614: CRL not valid yet.
public let errSecCRLNotValidYet: OSStatus = -67614
/// −67615: CRL not found.
public let errSecCRLNotFound: OSStatus = -67615
/// −67616: CRL server down.
public let errSecCRLServerDown: OSStatus = -67616
/// −67617: CRL bad URI.
public let errSecCRLBadURI: OSStatus = -67617
/// −67618: unknown cert extension.
public let errSecUnknownCertExtension: OSStatus = -67618
/// −67619: unknown CRL extension.
public let errSecUnknownCRLExtension: OSStatus = -67619
/// −67620: CRL not trusted.
public let errSecCRLNotTrusted: OSStatus = -67620
/// −67621: CRL policy failed.
public let errSecCRLPolicyFailed: OSStatus = -67621
/// −67622: IDP failure.
public let errSecIDPFailure: OSStatus = -67622
/// −67623: SMIME email addresses not found.
public let errSecSMIMEEmailAddressesNotFound: OSStatus = -67623
/// −67624: SMIME bad extended key usage.
public let errSecSMIMEBadExtendedKeyUsage: OSStatus = -67624
/// −67625: SMIME bad key usage.
public let errSecSMIMEBadKeyUsage: OSStatus = -67625
/// −67626: SMIME key usage not critical.
public let errSecSMIMEKeyUsageNotCritical: OSStatus = -67626
/// −67627: SMIME no email address.
public let errSecSMIMENoEmailAddress: OSStatus = -67627
/// −67628: SMIME subj alt name not critical.
public let errSecSMIMESubjAltNameNotCritical: OSStatus = -67628
/// −67629: SSL bad extended key usage.
public let errSecSSLBadExtendedKeyUsage: OSStatus = -67629
/// −67630: OCSP bad response.
public let errSecOCSPBadResponse: OSStatus = -67630
/// −67631: OCSP bad request.
public let errSecOCSPBadRequest: OSStatus = -67631
/// −67632: OCSP unavailable.
public let errSecOCSPUnavailable: OSStatus = -67632
/// −67633: OCSP status unrecognized.
public let errSecOCSPStatusUnrecognized: OSStatus = -67633
/// −67634: end of data.
public let errSecEndOfData: OSStatus = -67634
/// −67635: incomplete cert revocation check.
public let errSecIncompleteCertRevocationCheck: OSStatus = -67635
/// −67636: network failure.
public let errSecNetworkFailure: OSStatus = -67636
/// −67637: OCSP not trusted to anchor.
public let errSecOCSPNotTrustedToAnchor: OSStatus = -67637
/// −67638: record modified.
public let errSecRecordModified: OSStatus = -67638
/// −67639: OCSP signature error.
public let errSecOCSPSignatureError: OSStatus = -67639
/// −67640: OCSP no signer.
public let errSecOCSPNoSigner: OSStatus = -67640
/// −67641: OCSP responder malformed req.
public let errSecOCSPResponderMalformedReq: OSStatus = -67641
/// −67642: OCSP responder internal error.
public let errSecOCSPResponderInternalError: OSStatus = -67642
/// −67643: OCSP responder try later.
public let errSecOCSPResponderTryLater: OSStatus = -67643
/// −67644: OCSP responder signature required.
public let errSecOCSPResponderSignatureRequired: OSStatus = -67644
/// −67645: OCSP responder unauthorized.
public let errSecOCSPResponderUnauthorized: OSStatus = -67645
/// −67646: OCSP response nonce mismatch.
public let errSecOCSPResponseNonceMismatch: OSStatus = -67646
/// −67647: code signing bad cert chain length.
public let errSecCodeSigningBadCertChainLength: OSStatus = -67647
/// −67648: code signing no basic constraints.
public let errSecCodeSigningNoBasicConstraints: OSStatus = -67648
/// −67649: code signing bad path length constraint.
public let errSecCodeSigningBadPathLengthConstraint: OSStatus = -67649
/// −67650: code signing no extended key usage.
public let errSecCodeSigningNoExtendedKeyUsage: OSStatus = -67650
/// −67651: code signing development.
public let errSecCodeSigningDevelopment: OSStatus = -67651
/// −67652: resource sign bad cert chain length.
public let errSecResourceSignBadCertChainLength: OSStatus = -67652
/// −67653: resource sign bad ext key usage.
public let errSecResourceSignBadExtKeyUsage: OSStatus = -67653
/// −67654: trust setting deny.
public let errSecTrustSettingDeny: OSStatus = -67654
/// −67655: invalid subject name.
public let errSecInvalidSubjectName: OSStatus = -67655
/// −67656: unknown qualified cert statement.
public let errSecUnknownQualifiedCertStatement: OSStatus = -67656
/// −67657: mobile me request queued.
public let errSecMobileMeRequestQueued: OSStatus = -67657
/// −67658: mobile me request redirected.
public let errSecMobileMeRequestRedirected: OSStatus = -67658
/// −67659: mobile me server error.
public let errSecMobileMeServerError: OSStatus = -67659
/// −67660: mobile me server not available.
public let errSecMobileMeServerNotAvailable: OSStatus = -67660
/// −67661: mobile me server already exists.
public let errSecMobileMeServerAlreadyExists: OSStatus = -67661
/// −67662: mobile me server service err.
public let errSecMobileMeServerServiceErr: OSStatus = -67662
/// −67663: mobile me request already pending.
public let errSecMobileMeRequestAlreadyPending: OSStatus = -67663
/// −67664: mobile me no request pending.
public let errSecMobileMeNoRequestPending: OSStatus = -67664
/// −67665: mobile me CSR verify failure.
public let errSecMobileMeCSRVerifyFailure: OSStatus = -67665
/// −67666: mobile me failed consistency check.
public let errSecMobileMeFailedConsistencyCheck: OSStatus = -67666
