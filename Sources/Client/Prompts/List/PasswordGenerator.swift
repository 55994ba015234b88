package import Primitives

/// Makes passwords of random characters.
package struct PasswordGenerator: Sendable {
  /// The characters that a password may have. Those that people mistake for each other are left out (0, O, 1, l, I).
  package enum Alphabet: Sendable, CaseIterable {
    case lettersAndDigits
    case withSigns

    fileprivate var characters: [UInt8] {
      let plain = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
      switch self {
      case .lettersAndDigits: return Array(plain.utf8)
      case .withSigns: return Array("\(plain)!#%+:=?@_-".utf8)
      }
    }
  }

  /// The lengths that can be chosen.
  package static let lengths = 8...128
  /// The length where none is chosen.
  package static let usualLength = 20

  private let length: Int
  private let alphabet: Alphabet

  /// - Parameter length: in characters; taken to the nearest of ``lengths``.
  package init(length: Int = usualLength, _ alphabet: Alphabet = .withSigns) {
    self.length = min(max(length, Self.lengths.lowerBound), Self.lengths.upperBound)
    self.alphabet = alphabet
  }

  /// A new password, each character with the same probability.
  package func password() -> SecretBytes {
    let characters = alphabet.characters
    // The kernel's generator (getrandom).
    var generator = SystemRandomNumberGenerator()
    var password = SecretBytes(count: length)
    for index in 0..<length {
      let character = characters[Int.random(in: characters.indices, using: &generator)]
      unsafe password.withUnsafeMutableBytes { unsafe $0[index] = character }
    }
    return password
  }
}
