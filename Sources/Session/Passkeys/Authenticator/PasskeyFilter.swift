internal import SecretModel

/// Which passkeys a request may use or see.
enum PasskeyFilter {
  /// The passkeys of an allow list, or with nil the discoverable ones; the newest first.
  ///
  /// - Parameter verified: whether the person was verified for this request. Without it `credProtect` hides some. True
  ///   where there is no list.
  static func allowed(_ passkeys: [Passkey], by list: [[UInt8]]?, verified: Bool) -> [Passkey] {
    passkeys.filter { passkey in
      guard verified || passkey.protection != .required else { return false }
      guard let list else { return passkey.isDiscoverable }
      return list.contains(passkey.credentialID)
    }.sorted { $0.created > $1.created }
  }
}
