// Statuses of the attributes of a cryptographic operation:
// source code names them, calls of this module rarely answer them.

/// −67746: invalid context.
public let errSecInvalidContext: OSStatus = -67746
/// −67747: invalid algorithm.
public let errSecInvalidAlgorithm: OSStatus = -67747
/// −67748: invalid attribute key.
public let errSecInvalidAttributeKey: OSStatus = -67748
/// −67749: missing attribute key.
public let errSecMissingAttributeKey: OSStatus = -67749
/// −67750: invalid attribute init vector.
public let errSecInvalidAttributeInitVector: OSStatus = -67750
/// −67751: missing attribute init vector.
public let errSecMissingAttributeInitVector: OSStatus = -67751
/// −67752: invalid attribute salt.
public let errSecInvalidAttributeSalt: OSStatus = -67752
/// −67753: missing attribute salt.
public let errSecMissingAttributeSalt: OSStatus = -67753
/// −67754: invalid attribute padding.
public let errSecInvalidAttributePadding: OSStatus = -67754
/// −67755: missing attribute padding.
public let errSecMissingAttributePadding: OSStatus = -67755
/// −67756: invalid attribute random.
public let errSecInvalidAttributeRandom: OSStatus = -67756
/// −67757: missing attribute random.
public let errSecMissingAttributeRandom: OSStatus = -67757
/// −67758: invalid attribute seed.
public let errSecInvalidAttributeSeed: OSStatus = -67758
/// −67759: missing attribute seed.
public let errSecMissingAttributeSeed: OSStatus = -67759
/// −67760: invalid attribute passphrase.
public let errSecInvalidAttributePassphrase: OSStatus = -67760
/// −67761: missing attribute passphrase.
public let errSecMissingAttributePassphrase: OSStatus = -67761
/// −67762: invalid attribute key length.
public let errSecInvalidAttributeKeyLength: OSStatus = -67762
/// −67763: missing attribute key length.
public let errSecMissingAttributeKeyLength: OSStatus = -67763
/// −67764: invalid attribute block size.
public let errSecInvalidAttributeBlockSize: OSStatus = -67764
/// −67765: missing attribute block size.
public let errSecMissingAttributeBlockSize: OSStatus = -67765
/// −67766: invalid attribute output size.
public let errSecInvalidAttributeOutputSize: OSStatus = -67766
/// −67767: missing attribute output size.
public let errSecMissingAttributeOutputSize: OSStatus = -67767
/// −67768: invalid attribute rounds.
public let errSecInvalidAttributeRounds: OSStatus = -67768
/// −67769: missing attribute rounds.
public let errSecMissingAttributeRounds: OSStatus = -67769
/// −67770: invalid algorithm parms.
public let errSecInvalidAlgorithmParms: OSStatus = -67770
/// −67771: missing algorithm parms.
public let errSecMissingAlgorithmParms: OSStatus = -67771
/// −67772: invalid attribute label.
public let errSecInvalidAttributeLabel: OSStatus = -67772
/// −67773: missing attribute label.
public let errSecMissingAttributeLabel: OSStatus = -67773
/// −67774: invalid attribute key type.
public let errSecInvalidAttributeKeyType: OSStatus = -67774
/// −67775: missing attribute key type.
public let errSecMissingAttributeKeyType: OSStatus = -67775
/// −67776: invalid attribute mode.
public let errSecInvalidAttributeMode: OSStatus = -67776
/// −67777: missing attribute mode.
public let errSecMissingAttributeMode: OSStatus = -67777
/// −67778: invalid attribute effective bits.
public let errSecInvalidAttributeEffectiveBits: OSStatus = -67778
/// −67779: missing attribute effective bits.
public let errSecMissingAttributeEffectiveBits: OSStatus = -67779
/// −67780: invalid attribute start date.
public let errSecInvalidAttributeStartDate: OSStatus = -67780
/// −67781: missing attribute start date.
public let errSecMissingAttributeStartDate: OSStatus = -67781
/// −67782: invalid attribute end date.
public let errSecInvalidAttributeEndDate: OSStatus = -67782
/// −67783: missing attribute end date.
public let errSecMissingAttributeEndDate: OSStatus = -67783
/// −67784: invalid attribute version.
public let errSecInvalidAttributeVersion: OSStatus = -67784
/// −67785: missing attribute version.
public let errSecMissingAttributeVersion: OSStatus = -67785
/// −67786: invalid attribute prime.
public let errSecInvalidAttributePrime: OSStatus = -67786
/// −67787: missing attribute prime.
public let errSecMissingAttributePrime: OSStatus = -67787
/// −67788: invalid attribute base.
public let errSecInvalidAttributeBase: OSStatus = -67788
/// −67789: missing attribute base.
public let errSecMissingAttributeBase: OSStatus = -67789
/// −67790: invalid attribute subprime.
public let errSecInvalidAttributeSubprime: OSStatus = -67790
/// −67791: missing attribute subprime.
public let errSecMissingAttributeSubprime: OSStatus = -67791
/// −67792: invalid attribute iteration count.
public let errSecInvalidAttributeIterationCount: OSStatus = -67792
/// −67793: missing attribute iteration count.
public let errSecMissingAttributeIterationCount: OSStatus = -67793
/// −67794: invalid attribute DLDB handle.
public let errSecInvalidAttributeDLDBHandle: OSStatus = -67794
/// −67795: missing attribute DLDB handle.
public let errSecMissingAttributeDLDBHandle: OSStatus = -67795
/// −67796: invalid attribute access credentials.
public let errSecInvalidAttributeAccessCredentials: OSStatus = -67796
/// −67797: missing attribute access credentials.
public let errSecMissingAttributeAccessCredentials: OSStatus = -67797
/// −67798: invalid attribute public key format.
public let errSecInvalidAttributePublicKeyFormat: OSStatus = -67798
/// −67799: missing attribute public key format.
public let errSecMissingAttributePublicKeyFormat: OSStatus = -67799
/// −67800: invalid attribute private key format.
public let errSecInvalidAttributePrivateKeyFormat: OSStatus = -67800
/// −67801: missing attribute private key format.
public let errSecMissingAttributePrivateKeyFormat: OSStatus = -67801
/// −67802: invalid attribute symmetric key format.
public let errSecInvalidAttributeSymmetricKeyFormat: OSStatus = -67802
/// −67803: missing attribute symmetric key format.
public let errSecMissingAttributeSymmetricKeyFormat: OSStatus = -67803
/// −67804: invalid attribute wrapped key format.
public let errSecInvalidAttributeWrappedKeyFormat: OSStatus = -67804
/// −67805: missing attribute wrapped key format.
public let errSecMissingAttributeWrappedKeyFormat: OSStatus = -67805
/// −67806: staged operation in progress.
public let errSecStagedOperationInProgress: OSStatus = -67806
/// −67807: staged operation not started.
public let errSecStagedOperationNotStarted: OSStatus = -67807
/// −67808: verify failed.
public let errSecVerifyFailed: OSStatus = -67808
/// −67809: query size unknown.
public let errSecQuerySizeUnknown: OSStatus = -67809
/// −67810: block size mismatch.
public let errSecBlockSizeMismatch: OSStatus = -67810
/// −67811: public key inconsistent.
public let errSecPublicKeyInconsistent: OSStatus = -67811
