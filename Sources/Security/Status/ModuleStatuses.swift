// Statuses of cryptographic modules and their parameters:
// source code names them, calls of this module rarely answer them.

/// −67667: not initialized.
public let errSecNotInitialized: OSStatus = -67667
/// −67668: invalid handle usage.
public let errSecInvalidHandleUsage: OSStatus = -67668
/// −67669: PVC referent not found.
public let errSecPVCReferentNotFound: OSStatus = -67669
/// −67670: function integrity fail.
public let errSecFunctionIntegrityFail: OSStatus = -67670
/// −67671: internal error.
public let errSecInternalError: OSStatus = -67671
/// −67672: memory error.
public let errSecMemoryError: OSStatus = -67672
/// −67673: invalid data.
public let errSecInvalidData: OSStatus = -67673
/// −67674: MDS error.
public let errSecMDSError: OSStatus = -67674
/// −67675: invalid pointer.
public let errSecInvalidPointer: OSStatus = -67675
/// −67676: self check failed.
public let errSecSelfCheckFailed: OSStatus = -67676
/// −67677: function failed.
public let errSecFunctionFailed: OSStatus = -67677
/// −67678: module manifest verify failed.
public let errSecModuleManifestVerifyFailed: OSStatus = -67678
/// −67679: invalid GUID.
public let errSecInvalidGUID: OSStatus = -67679
/// −67680: invalid handle.
public let errSecInvalidHandle: OSStatus = -67680
/// −67681: invalid DB list.
public let errSecInvalidDBList: OSStatus = -67681
/// −67682: invalid passthrough ID.
public let errSecInvalidPassthroughID: OSStatus = -67682
/// −67683: invalid network address.
public let errSecInvalidNetworkAddress: OSStatus = -67683
/// −67684: CRL already signed.
public let errSecCRLAlreadySigned: OSStatus = -67684
/// −67685: invalid number of fields.
public let errSecInvalidNumberOfFields: OSStatus = -67685
/// −67686: verification failure.
public let errSecVerificationFailure: OSStatus = -67686
/// −67687: unknown tag.
public let errSecUnknownTag: OSStatus = -67687
/// −67688: invalid signature.
public let errSecInvalidSignature: OSStatus = -67688
/// −67689: invalid name.
public let errSecInvalidName: OSStatus = -67689
/// −67690: invalid certificate ref.
public let errSecInvalidCertificateRef: OSStatus = -67690
/// −67691: invalid certificate group.
public let errSecInvalidCertificateGroup: OSStatus = -67691
/// −67692: tag not found.
public let errSecTagNotFound: OSStatus = -67692
/// −67693: invalid query.
public let errSecInvalidQuery: OSStatus = -67693
/// −67694: invalid value.
public let errSecInvalidValue: OSStatus = -67694
/// −67695: callback failed.
public let errSecCallbackFailed: OSStatus = -67695
/// −67696: ACL delete failed.
public let errSecACLDeleteFailed: OSStatus = -67696
/// −67697: ACL replace failed.
public let errSecACLReplaceFailed: OSStatus = -67697
/// −67698: ACL add failed.
public let errSecACLAddFailed: OSStatus = -67698
/// −67699: ACL change failed.
public let errSecACLChangeFailed: OSStatus = -67699
/// −67700: invalid access credentials.
public let errSecInvalidAccessCredentials: OSStatus = -67700
/// −67701: invalid record.
public let errSecInvalidRecord: OSStatus = -67701
/// −67702: invalid ACL.
public let errSecInvalidACL: OSStatus = -67702
/// −67703: invalid sample value.
public let errSecInvalidSampleValue: OSStatus = -67703
/// −67704: incompatible version.
public let errSecIncompatibleVersion: OSStatus = -67704
/// −67705: privilege not granted.
public let errSecPrivilegeNotGranted: OSStatus = -67705
/// −67706: invalid scope.
public let errSecInvalidScope: OSStatus = -67706
/// −67707: PVC already configured.
public let errSecPVCAlreadyConfigured: OSStatus = -67707
/// −67708: invalid PVC.
public let errSecInvalidPVC: OSStatus = -67708
/// −67709: EMM load failed.
public let errSecEMMLoadFailed: OSStatus = -67709
/// −67710: EMM unload failed.
public let errSecEMMUnloadFailed: OSStatus = -67710
/// −67711: addin load failed.
public let errSecAddinLoadFailed: OSStatus = -67711
/// −67712: invalid key ref.
public let errSecInvalidKeyRef: OSStatus = -67712
/// −67713: invalid key hierarchy.
public let errSecInvalidKeyHierarchy: OSStatus = -67713
/// −67714: addin unload failed.
public let errSecAddinUnloadFailed: OSStatus = -67714
/// −67715: library reference not found.
public let errSecLibraryReferenceNotFound: OSStatus = -67715
/// −67716: invalid addin function table.
public let errSecInvalidAddinFunctionTable: OSStatus = -67716
/// −67717: invalid service mask.
public let errSecInvalidServiceMask: OSStatus = -67717
/// −67718: module not loaded.
public let errSecModuleNotLoaded: OSStatus = -67718
/// −67719: invalid sub service ID.
public let errSecInvalidSubServiceID: OSStatus = -67719
/// −67720: attribute not in context.
public let errSecAttributeNotInContext: OSStatus = -67720
/// −67721: module manager initialize failed.
public let errSecModuleManagerInitializeFailed: OSStatus = -67721
/// −67722: module manager not found.
public let errSecModuleManagerNotFound: OSStatus = -67722
/// −67723: event notification callback not found.
public let errSecEventNotificationCallbackNotFound: OSStatus = -67723
/// −67724: input length error.
public let errSecInputLengthError: OSStatus = -67724
/// −67725: output length error.
public let errSecOutputLengthError: OSStatus = -67725
/// −67726: privilege not supported.
public let errSecPrivilegeNotSupported: OSStatus = -67726
/// −67727: device error.
public let errSecDeviceError: OSStatus = -67727
/// −67728: attach handle busy.
public let errSecAttachHandleBusy: OSStatus = -67728
/// −67729: not logged in.
public let errSecNotLoggedIn: OSStatus = -67729
/// −67730: algorithm mismatch.
public let errSecAlgorithmMismatch: OSStatus = -67730
/// −67731: key usage incorrect.
public let errSecKeyUsageIncorrect: OSStatus = -67731
/// −67732: key blob type incorrect.
public let errSecKeyBlobTypeIncorrect: OSStatus = -67732
/// −67733: key header inconsistent.
public let errSecKeyHeaderInconsistent: OSStatus = -67733
/// −67734: unsupported key format.
public let errSecUnsupportedKeyFormat: OSStatus = -67734
/// −67735: unsupported key size.
public let errSecUnsupportedKeySize: OSStatus = -67735
/// −67736: invalid key usage mask.
public let errSecInvalidKeyUsageMask: OSStatus = -67736
/// −67737: unsupported key usage mask.
public let errSecUnsupportedKeyUsageMask: OSStatus = -67737
/// −67738: invalid key attribute mask.
public let errSecInvalidKeyAttributeMask: OSStatus = -67738
/// −67739: unsupported key attribute mask.
public let errSecUnsupportedKeyAttributeMask: OSStatus = -67739
/// −67740: invalid key label.
public let errSecInvalidKeyLabel: OSStatus = -67740
/// −67741: unsupported key label.
public let errSecUnsupportedKeyLabel: OSStatus = -67741
/// −67742: invalid key format.
public let errSecInvalidKeyFormat: OSStatus = -67742
/// −67743: unsupported vector of buffers.
public let errSecUnsupportedVectorOfBuffers: OSStatus = -67743
/// −67744: invalid input vector.
public let errSecInvalidInputVector: OSStatus = -67744
/// −67745: invalid output vector.
public let errSecInvalidOutputVector: OSStatus = -67745
