extension Passkey {
  /// The AAGUID of Whorl: what WebAuthn tells a relying party the authenticator's model by. A random UUID, fixed for
  /// good: e86d91cd-20f0-4a25-9630-4768c90dcc26.
  package static let model: [UInt8] = [
    0xe8, 0x6d, 0x91, 0xcd, 0x20, 0xf0, 0x4a, 0x25, 0x96, 0x30, 0x47, 0x68, 0xc9, 0x0d, 0xcc, 0x26,
  ]
}
