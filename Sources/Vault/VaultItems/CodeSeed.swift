// One-time codes inside the vault: the seed as programs write it, and the code of a moment.

import Keys
package import Primitives
package import SecretModel

/// The seed of one-time codes and how they are made of it (RFC 6238, RFC 4226).
package struct CodeSeed: Sendable {
  /// The key of the HMAC.
  private let key: SharedSecret
  private let hash: HashFunction
  private let length: Int
  private let period: Int

  /// Reads an address as for QR codes, `otpauth://totp/LABEL?secret=BASE32`, with `algorithm`, `digits` and `period`, or
  /// the seed alone in base32, which always means SHA-1, six digits and 30 seconds. What would give codes of another
  /// kind is refused, since a wrong code may lock an account.
  ///
  /// - Parameter allowsBare: whether the seed alone is allowed. A password may look like one.
  /// - Throws: `invalidRequest`, without a part of the text.
  package init(parsing text: borrowing SecretBytes, allowsBare: Bool) throws(VaultError) {
    self = try text.withUnsafeBytes { (bytes) throws(VaultError) in
      let text = Self.withoutBlanks(bytes[...])
      if let address = Self.after("otpauth://", text) { return try CodeSeed(address: address) }
      guard allowsBare, Self.place(of: ":", in: text) == nil else {
        throw .invalidRequest("this item holds no otpauth:// address, of which codes could be made")
      }
      return CodeSeed(key: try Self.base32(text), hash: .sha1, length: 6, period: 30)
    }
  }

  private init(key: SharedSecret, hash: HashFunction, length: Int, period: Int) {
    (self.key, self.hash, self.length, self.period) = (key, hash, length, period)
  }

  /// The code at a time, in seconds since 1970.
  package func code(at time: UInt64) throws(VaultError) -> OneTimeCode {
    let step = UInt64(clamping: period)
    let counter = time / step
    let mac = try VaultError.ofKeys { () throws(KeysError) in
      try MAC.hmac(hash, key: key.bytes, (0..<8).map { UInt8(truncatingIfNeeded: counter >> (56 - 8 * $0)) })
    }
    var digits = SecretBytes(count: length)
    mac.withUnsafeBytes { mac in
      // RFC 4226, section 5.3. The low four bits of the last byte say where the number is.
      let offset = Int(clamping: mac[mac.count - 1] & 0xF)
      var number = UInt32(bigEndian: mac[offset..<offset + 4]) & 0x7FFF_FFFF
      digits.withUnsafeMutableBytes { digits in
        for place in digits.indices.reversed() {
          digits[place] = UInt8(ascii: "0") + UInt8(clamping: number % 10)
          number /= 10
        }
      }
    }
    return OneTimeCode(digits: digits, secondsLeft: Int(clamping: step - time % step), period: period)
  }
}

/// The address, whose parts are read in place.
extension CodeSeed {
  private typealias Bytes = Slice<UnsafeRawBufferPointer>

  /// - Parameter address: what follows `otpauth://`.
  private init(address: Bytes) throws(VaultError) {
    guard let label = Self.after("totp/", address) ?? Self.after("totp?", address).map({ _ in address.dropFirst(4) })
    else {
      let counts = Self.after("hotp", address) != nil
      throw .invalidRequest(
        counts
          ? "this address is for codes that count their uses (HOTP); only codes of the time (TOTP) can be made"
          : "this otpauth:// address is not for codes of the time (TOTP)")
    }
    let beforeFragment = label.prefix { $0 != UInt8(ascii: "#") }
    guard let query = beforeFragment.firstIndex(of: UInt8(ascii: "?")) else { throw Self.without("secret") }
    var seen: [String] = []
    var key: SharedSecret?
    var (hash, length, period) = (HashFunction.sha1, 6, 30)
    for field in beforeFragment[(query + 1)...].split(separator: UInt8(ascii: "&")) {
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: parts[0], as: UTF8.self).lowercased()
      guard ["secret", "algorithm", "digits", "period", "encoder"].contains(name) else { continue }
      guard parts.count == 2, !seen.contains(name) else { throw Self.unusable(name) }
      seen.append(name)
      if name == "secret" {
        key = try Self.unescaped(parts[1]).withUnsafeBytes { (bytes) throws(VaultError) in try Self.base32(bytes[...]) }
        continue
      }
      // None of the others is a secret.
      let value = String(decoding: parts[1], as: UTF8.self).uppercased()
      switch (name, value) {
      case ("algorithm", "SHA1"): hash = .sha1
      case ("algorithm", "SHA256"): hash = .sha256
      case ("algorithm", "SHA512"): hash = .sha512
      case ("digits", _):
        guard let number = OutsideNumber(digits: value)?.number(in: OneTimeCode.lengths) else {
          throw Self.unusable(name)
        }
        length = number
      case ("period", _):
        guard let number = OutsideNumber(digits: value)?.number(in: OneTimeCode.periods) else {
          throw Self.unusable(name)
        }
        period = number
      // Such as KeePassXC's "steam", whose codes are letters.
      default: throw Self.unusable(name)
      }
    }
    guard let key else { throw Self.without("secret") }
    self.init(key: key, hash: hash, length: length, period: period)
  }

  private static func without(_ name: String) -> VaultError {
    .invalidRequest("this otpauth:// address has no \(name)")
  }

  private static func unusable(_ name: String) -> VaultError {
    .invalidRequest("this otpauth:// address has a value of \(name) that is not understood")
  }

  /// What follows this beginning, in any case; nil where the bytes begin in another way.
  private static func after(_ beginning: StaticString, _ bytes: Bytes) -> Bytes? {
    beginning.withUTF8Buffer { wanted in
      guard bytes.count >= wanted.count,
        zip(bytes, wanted).allSatisfy({ $0 == $1 || ($0 | 0x20 == $1 && (0x61...0x7A).contains($1)) })
      else { return nil }
      return bytes.dropFirst(wanted.count)
    }
  }

  private static func place(of character: Unicode.Scalar, in bytes: Bytes) -> Int? {
    bytes.firstIndex(of: UInt8(ascii: character))
  }

  private static func withoutBlanks(_ bytes: Bytes) -> Bytes {
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    var rest = bytes.drop { blanks.contains($0) }
    while let last = rest.last, blanks.contains(last) { rest = rest.dropLast() }
    return rest
  }

  /// The text of a part of an address without its percent encoding (RFC 3986).
  private static func unescaped(_ part: Bytes) throws(VaultError) -> SecretBytes {
    var text = SecretBytes(count: part.count)
    var (end, place) = (0, part.startIndex)
    var isBroken = false
    text.withUnsafeMutableBytes { text in
      while place < part.endIndex {
        var byte = part[place]
        if byte == UInt8(ascii: "%") {
          guard part.endIndex - place > 2, let high = nibble(part[place + 1]), let low = nibble(part[place + 2]) else {
            isBroken = true
            return
          }
          byte = high * 16 + low
          place += 2
        }
        text[end] = byte
        end += 1
        place += 1
      }
    }
    guard !isBroken else { throw unusable("secret") }
    text.resize(to: end)
    return text
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46, 0x61...0x66: (digit | 0x20) - 0x61 + 10
    default: nil
    }
  }

  /// The bytes of base32 (RFC 4648) in any case, without or with its padding, and with the spaces and hyphens that
  /// people read it by.
  private static func base32(_ text: Bytes) throws(VaultError) -> SharedSecret {
    let wrong = VaultError.invalidRequest("the seed of the codes is not in base32")
    var key = SecretBytes(count: text.count * 5 / 8)
    var (digits, end) = (0, 0)
    var bits: UInt32 = 0
    var isBroken = false
    var isPadded = false
    key.withUnsafeMutableBytes { key in
      for byte in text where byte != UInt8(ascii: " ") && byte != UInt8(ascii: "-") {
        let digit: UInt8
        switch byte {
        case UInt8(ascii: "="):
          isPadded = true
          continue
        case 0x41...0x5A, 0x61...0x7A: digit = (byte | 0x20) - 0x61
        case 0x32...0x37: digit = byte - 0x32 + 26
        default:
          isBroken = true
          return
        }
        if isPadded { isBroken = true }
        bits = (bits & 0x7F) * 32 + UInt32(clamping: digit)
        digits += 1
        let whole = digits * 5 / 8
        if whole > end {
          key[end] = UInt8(truncatingIfNeeded: bits >> (digits * 5 % 8))
          end = whole
        }
      }
    }
    // Of one, three or six digits the last belongs to no byte.
    guard !isBroken, end > 0, ![1, 3, 6].contains(digits % 8) else { throw wrong }
    key.resize(to: end)
    return SharedSecret(key)
  }
}
