internal import Primitives
internal import SecretModel

/// The seeds of one-time codes that KeePass 2 and the plugin KeeTrayTOTP keep in fields of their own, in base32. KeePassXC
/// reads them as well, and leaves them as they are.
enum KeePassSeeds {
  /// The entry with the seed as an `otpauth://` address, in place of the field that it was in. An entry that has an address
  /// stays as it is, and so does one with settings that are not understood, such as Steam's.
  static func settled(_ entry: PasswordEntry) -> PasswordEntry {
    guard !entry.secrets.contains(where: { $0.label == "totp" }),
      let (field, settings) = found(in: entry),
      let place = entry.secrets.firstIndex(where: { $0.label == field }),
      let seed = entry.secrets[place].value.bytes.base32Digits
    else { return entry }
    var settled = entry
    settled.secrets[place] = PasswordEntry.Secret(
      label: "totp",
      value: SharedSecret(
        SecretBytes(joining: Array("otpauth://totp/?secret=".utf8), seed, Array("&\(settings)".utf8))))
    return settled
  }

  /// The name of the field with the seed, and the query of its settings.
  private static func found(in entry: PasswordEntry) -> (field: String, settings: String)? {
    func setting(_ name: String) -> String? {
      // Whoever protects every field protects these as well.
      entry.fields[name] ?? entry.secrets.first { $0.label == name }?.value.bytes.plainText
    }
    func settings(_ algorithm: String?, _ digits: String?, _ period: String?) -> String? {
      guard let algorithm, let digits = digits.map(OutsideNumber.init(digits:)) ?? OutsideNumber(digits: "6"),
        let length = digits.number(in: OneTimeCode.lengths),
        let period = (period.map(OutsideNumber.init(digits:)) ?? OutsideNumber(digits: "30"))?
          .number(in: OneTimeCode.periods)
      else { return nil }
      return "algorithm=\(algorithm)&digits=\(length)&period=\(period)"
    }
    if entry.secrets.contains(where: { $0.label == "TimeOtp-Secret-Base32" }) {
      let algorithms = ["HMAC-SHA-1": "SHA1", "HMAC-SHA-256": "SHA256", "HMAC-SHA-512": "SHA512"]
      return settings(
        algorithms[setting("TimeOtp-Algorithm") ?? "HMAC-SHA-1"], setting("TimeOtp-Length"), setting("TimeOtp-Period")
      ).map { ("TimeOtp-Secret-Base32", $0) }
    }
    // Such as "30;6", with an address of the time after that, which is not needed.
    let parts = (setting("TOTP Settings") ?? "30;6").split(separator: ";", omittingEmptySubsequences: false)
    guard parts.count >= 2 else { return nil }
    return settings("SHA1", String(parts[1]), String(parts[0])).map { ("TOTP Seed", $0) }
  }
}

extension SecretBytes {
  /// The digits of a text in base32, without the blanks and the padding; nil for any other text.
  fileprivate var base32Digits: SecretBytes? {
    borrowing get {
      var digits = copy()
      var count = 0
      let isBase32 = withUnsafeBytes { text in
        digits.withUnsafeMutableBytes { digits in
          for byte in text where !" -=".utf8.contains(byte) {
            guard (0x41...0x5A).contains(byte & ~0x20) || (0x32...0x37).contains(byte) else { return false }
            digits[count] = byte
            count += 1
          }
          return count > 0
        }
      }
      guard isBase32 else { return nil }
      digits.resize(to: count)
      return digits
    }
  }
}
