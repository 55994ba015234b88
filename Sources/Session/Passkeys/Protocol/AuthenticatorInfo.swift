internal import CBOR
internal import SecretModel

/// The answer to `authenticatorGetInfo` (CTAP 2.1, 6.4).
enum AuthenticatorInfo {
  static let blobLimit = 32
  /// As many IDs of the maximum length as fit in a message.
  static let listLimit = 25
  static let credentialIDLimit = 255

  /// - Parameters:
  ///   - canAsk: whether the user can be asked now.
  ///   - capacity: how many more passkeys fit.
  static func value(canAsk: Bool, capacity: Int) -> CBORValue {
    [
      1: ["FIDO_2_0", "FIDO_2_1"],
      2: ["credBlob", "credProtect", "hmac-secret"],
      3: .bytes(Passkey.model),
      // No `clientPin`: the store's passcode is asked for in Whorl's own prompt. No U2F, which has no `uv`.
      4: [
        "rk": true, "up": true, "uv": .bool(canAsk), "alwaysUv": true, "credMgmt": true,
        "credentialMgmtPreview": true, "makeCredUvNotRqd": false, "pinUvAuthToken": true,
      ],
      5: CBORValue(HIDReport.messageLimit),
      6: [2, 1],
      7: CBORValue(listLimit),
      8: CBORValue(credentialIDLimit),
      // `internal`, since it is part of the laptop. `usb`, since browsers reach it as a HID device: for a passkey
      // without the transport `usb`, Chromium does not look at HID devices, and would not find this one.
      9: ["internal", "usb"],
      10: .array(
        CredentialAlgorithm.numbers.map { ["alg": CBORValue($0), "type": CredentialEntities.type] }),
      15: CBORValue(blobLimit),
      // fingerprint_internal of FIDO's registry.
      18: 0x02,
      20: CBORValue(capacity),
    ]
  }
}
