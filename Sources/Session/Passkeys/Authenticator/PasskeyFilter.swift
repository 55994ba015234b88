internal import SecretModel

/// Which passkeys a request may use or see.
enum PasskeyFilter {
  /// The passkeys of an allow list, or all discoverable ones if it is nil; newest first.
  ///
  /// - Parameter verified: whether the user was verified for this request. If not, `credProtect` hides some passkeys.
  ///   Must be true without a list.
  static func allowed(_ passkeys: [Passkey], by list: [[UInt8]]?, verified: Bool) -> [Passkey] {
    passkeys.filter { passkey in
      guard verified || passkey.protection != .required else { return false }
      guard let list else { return passkey.isDiscoverable }
      return list.contains(passkey.credentialID)
    }.sorted { $0.created > $1.created }
  }
}
