// Statuses of logins, trust, data stores and time stamps:
// source code names them, calls of this module never answer them.

/// −67812: device verify failed.
public let errSecDeviceVerifyFailed: OSStatus = -67812
/// −67813: invalid login name.
public let errSecInvalidLoginName: OSStatus = -67813
/// −67814: already logged in.
public let errSecAlreadyLoggedIn: OSStatus = -67814
/// −67815: invalid digest algorithm.
public let errSecInvalidDigestAlgorithm: OSStatus = -67815
/// −67816: invalid CRL group.
public let errSecInvalidCRLGroup: OSStatus = -67816
/// −67817: certificate cannot operate.
public let errSecCertificateCannotOperate: OSStatus = -67817
/// −67818: certificate expired.
public let errSecCertificateExpired: OSStatus = -67818
/// −67819: certificate not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// −67820: certificate revoked.
public let errSecCertificateRevoked: OSStatus = -67820
/// −67821: certificate suspended.
public let errSecCertificateSuspended: OSStatus = -67821
/// −67822: insufficient credentials.
public let errSecInsufficientCredentials: OSStatus = -67822
/// −67823: invalid action.
public let errSecInvalidAction: OSStatus = -67823
/// −67824: invalid authority.
public let errSecInvalidAuthority: OSStatus = -67824
/// −67825: verify action failed.
public let errSecVerifyActionFailed: OSStatus = -67825
/// −67826: invalid cert authority.
public let errSecInvalidCertAuthority: OSStatus = -67826
/// −67827: invalid CRL authority.
public let errSecInvalidCRLAuthority: OSStatus = -67827
/// −67827: invald CRL authority.
public let errSecInvaldCRLAuthority: OSStatus = -67827
/// −67828: invalid CRL encoding.
public let errSecInvalidCRLEncoding: OSStatus = -67828
/// −67829: invalid CRL type.
public let errSecInvalidCRLType: OSStatus = -67829
/// −67830: invalid CRL.
public let errSecInvalidCRL: OSStatus = -67830
/// −67831: invalid form type.
public let errSecInvalidFormType: OSStatus = -67831
/// −67832: invalid ID.
public let errSecInvalidID: OSStatus = -67832
/// −67833: invalid identifier.
public let errSecInvalidIdentifier: OSStatus = -67833
/// −67834: invalid index.
public let errSecInvalidIndex: OSStatus = -67834
/// −67835: invalid policy identifiers.
public let errSecInvalidPolicyIdentifiers: OSStatus = -67835
/// −67836: invalid time string.
public let errSecInvalidTimeString: OSStatus = -67836
/// −67837: invalid reason.
public let errSecInvalidReason: OSStatus = -67837
/// −67838: invalid request inputs.
public let errSecInvalidRequestInputs: OSStatus = -67838
/// −67839: invalid response vector.
public let errSecInvalidResponseVector: OSStatus = -67839
/// −67840: invalid stop on policy.
public let errSecInvalidStopOnPolicy: OSStatus = -67840
/// −67841: invalid tuple.
public let errSecInvalidTuple: OSStatus = -67841
/// −67842: multiple values unsupported.
public let errSecMultipleValuesUnsupported: OSStatus = -67842
/// −67843: not trusted.
public let errSecNotTrusted: OSStatus = -67843
/// −67844: no default authority.
public let errSecNoDefaultAuthority: OSStatus = -67844
/// −67845: rejected form.
public let errSecRejectedForm: OSStatus = -67845
/// −67846: request lost.
public let errSecRequestLost: OSStatus = -67846
/// −67847: request rejected.
public let errSecRequestRejected: OSStatus = -67847
/// −67848: unsupported address type.
public let errSecUnsupportedAddressType: OSStatus = -67848
/// −67849: unsupported service.
public let errSecUnsupportedService: OSStatus = -67849
/// −67850: invalid tuple group.
public let errSecInvalidTupleGroup: OSStatus = -67850
/// −67851: invalid base AC ls.
public let errSecInvalidBaseACLs: OSStatus = -67851
/// −67852: invalid tuple credentials.
public let errSecInvalidTupleCredentials: OSStatus = -67852
/// −67852: invalid tuple credendtials.
public let errSecInvalidTupleCredendtials: OSStatus = -67852
/// −67853: invalid encoding.
public let errSecInvalidEncoding: OSStatus = -67853
/// −67854: invalid validity period.
public let errSecInvalidValidityPeriod: OSStatus = -67854
/// −67855: invalid requestor.
public let errSecInvalidRequestor: OSStatus = -67855
/// −67856: request descriptor.
public let errSecRequestDescriptor: OSStatus = -67856
/// −67857: invalid bundle info.
public let errSecInvalidBundleInfo: OSStatus = -67857
/// −67858: invalid CRL index.
public let errSecInvalidCRLIndex: OSStatus = -67858
/// −67859: no field values.
public let errSecNoFieldValues: OSStatus = -67859
/// −67860: unsupported field format.
public let errSecUnsupportedFieldFormat: OSStatus = -67860
/// −67861: unsupported index info.
public let errSecUnsupportedIndexInfo: OSStatus = -67861
/// −67862: unsupported locality.
public let errSecUnsupportedLocality: OSStatus = -67862
/// −67863: unsupported num attributes.
public let errSecUnsupportedNumAttributes: OSStatus = -67863
/// −67864: unsupported num indexes.
public let errSecUnsupportedNumIndexes: OSStatus = -67864
/// −67865: unsupported num record types.
public let errSecUnsupportedNumRecordTypes: OSStatus = -67865
/// −67866: field specified multiple.
public let errSecFieldSpecifiedMultiple: OSStatus = -67866
/// −67867: incompatible field format.
public let errSecIncompatibleFieldFormat: OSStatus = -67867
/// −67868: invalid parsing module.
public let errSecInvalidParsingModule: OSStatus = -67868
/// −67869: database locked.
public let errSecDatabaseLocked: OSStatus = -67869
/// −67870: datastore is open.
public let errSecDatastoreIsOpen: OSStatus = -67870
/// −67871: missing value.
public let errSecMissingValue: OSStatus = -67871
/// −67872: unsupported query limits.
public let errSecUnsupportedQueryLimits: OSStatus = -67872
/// −67873: unsupported num selection preds.
public let errSecUnsupportedNumSelectionPreds: OSStatus = -67873
/// −67874: unsupported operator.
public let errSecUnsupportedOperator: OSStatus = -67874
/// −67875: invalid DB location.
public let errSecInvalidDBLocation: OSStatus = -67875
/// −67876: invalid access request.
public let errSecInvalidAccessRequest: OSStatus = -67876
/// −67877: invalid index info.
public let errSecInvalidIndexInfo: OSStatus = -67877
/// −67878: invalid new owner.
public let errSecInvalidNewOwner: OSStatus = -67878
/// −67879: invalid modify mode.
public let errSecInvalidModifyMode: OSStatus = -67879
/// −67880: missing required extension.
public let errSecMissingRequiredExtension: OSStatus = -67880
/// −67881: extended key usage not critical.
public let errSecExtendedKeyUsageNotCritical: OSStatus = -67881
/// −67882: timestamp missing.
public let errSecTimestampMissing: OSStatus = -67882
/// −67883: timestamp invalid.
public let errSecTimestampInvalid: OSStatus = -67883
/// −67884: timestamp not trusted.
public let errSecTimestampNotTrusted: OSStatus = -67884
/// −67885: timestamp service not available.
public let errSecTimestampServiceNotAvailable: OSStatus = -67885
/// −67886: timestamp bad alg.
public let errSecTimestampBadAlg: OSStatus = -67886
/// −67887: timestamp bad request.
public let errSecTimestampBadRequest: OSStatus = -67887
/// −67888: timestamp bad data format.
public let errSecTimestampBadDataFormat: OSStatus = -67888
/// −67889: timestamp time not available.
public let errSecTimestampTimeNotAvailable: OSStatus = -67889
/// −67890: timestamp unaccepted policy.
public let errSecTimestampUnacceptedPolicy: OSStatus = -67890
/// −67891: timestamp unaccepted extension.
public let errSecTimestampUnacceptedExtension: OSStatus = -67891
/// −67892: timestamp add info not available.
public let errSecTimestampAddInfoNotAvailable: OSStatus = -67892
/// −67893: timestamp system failure.
public let errSecTimestampSystemFailure: OSStatus = -67893
/// −67894: signing time missing.
public let errSecSigningTimeMissing: OSStatus = -67894
/// −67895: timestamp rejection.
public let errSecTimestampRejection: OSStatus = -67895
/// −67896: timestamp waiting.
public let errSecTimestampWaiting: OSStatus = -67896
/// −67897: timestamp revocation warning.
public let errSecTimestampRevocationWarning: OSStatus = -67897
/// −67898: timestamp revocation notification.
public let errSecTimestampRevocationNotification: OSStatus = -67898
/// −67899: certificate policy not allowed.
public let errSecCertificatePolicyNotAllowed: OSStatus = -67899
/// −67900: certificate name not allowed.
public let errSecCertificateNameNotAllowed: OSStatus = -67900
/// −67901: certificate validity period too long.
public let errSecCertificateValidityPeriodTooLong: OSStatus = -67901
/// −67902: certificate is CA.
public let errSecCertificateIsCA: OSStatus = -67902
/// −67903: certificate duplicate extension.
public let errSecCertificateDuplicateExtension: OSStatus = -67903
