package import Primitives

/// Estimates how many guesses find a passcode, when short and simple ones are tried first.
///
/// This is an upper limit: it considers length, kinds of characters, runs, repetitions, dates and a few common words,
/// but no dictionary.
package enum PasscodeGuesses {
  /// The guesses of a machine with a hundred processors in a day: scrypt takes 0.45 s and 128 MiB for each.
  package static let inADay = 20_000_000.0

  /// The most guesses until this passcode is found.
  package static func estimate(_ passcode: borrowing SecretBytes) -> Double {
    passcode.withUnsafeBytes { bytes in
      let whole = bytes[...]
      var least = simple(whole)
      if let part = repeated(whole) { least = min(least, simple(part) * Double(whole.count / part.count)) }
      if isDate(whole) { least = min(least, Double(daysInDates)) }
      for word in commonWords {
        if let rest = around(word, in: whole) { least = min(least, Double(commonWords.count) * rest) }
      }
      return least
    }
  }

  // MARK: Characters

  private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
  private static let lowercase = UInt8(ascii: "a")...UInt8(ascii: "z")
  private static let uppercase = UInt8(ascii: "A")...UInt8(ascii: "Z")

  /// The number of texts of this length and these kinds of characters. A character that continues a run, as in 1234,
  /// aaaa and cba, counts as one of two.
  private static func simple(_ text: Slice<UnsafeRawBufferPointer>) -> Double {
    var alphabet = 0.0
    if text.contains(where: digits.contains) { alphabet += 10 }
    if text.contains(where: lowercase.contains) { alphabet += 26 }
    if text.contains(where: uppercase.contains) { alphabet += 26 }
    if text.contains(where: isSign) { alphabet += 33 }
    // Letters of other alphabets have several bytes each; only the first is counted.
    if text.contains(where: { $0 >= 0xC0 }) { alphabet += 100 }
    var guesses = 1.0
    for index in text.indices where text[index] < 0x80 || text[index] >= 0xC0 {
      guesses *= continuesRun(text, index) ? 2 : alphabet
    }
    return guesses
  }

  private static func isSign(_ byte: UInt8) -> Bool {
    byte < 0x80 && !digits.contains(byte) && !lowercase.contains(byte) && !uppercase.contains(byte)
  }

  private static func continuesRun(_ text: Slice<UnsafeRawBufferPointer>, _ index: Int) -> Bool {
    guard index >= text.startIndex + 2 else { return false }
    let step = Int(text[index]) - Int(text[index - 1])
    return abs(step) <= 1 && step == Int(text[index - 1]) - Int(text[index - 2])
  }

  // MARK: Patterns

  /// The part that the text repeats, as abc in abcabc; nil where it repeats none.
  private static func repeated(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
    guard text.count >= 4 else { return nil }
    for length in 2...max(2, text.count / 2) where text.count % length == 0 {
      if text.indices.dropFirst(length).allSatisfy({ text[$0] == text[$0 - length] }) { return text.prefix(length) }
    }
    return nil
  }

  /// The days of two centuries, in each order of day, month and year.
  private static let daysInDates = 200 * 366 * 3

  /// Whether these are the eight digits of a date: 24121999, 12241999 or 19991224.
  private static func isDate(_ text: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard text.count == 8, text.allSatisfy(digits.contains) else { return false }
    func number(_ range: Range<Int>) -> Int {
      range.reduce(0) { $0 * 10 + Int(text[text.startIndex + $1] - digits.lowerBound) }
    }
    func isDay(_ day: Int, _ month: Int, _ year: Int) -> Bool {
      (1...31).contains(day) && (1...12).contains(month) && (1900..<2100).contains(year)
    }
    let (first, second) = (number(0..<2), number(2..<4))
    return isDay(first, second, number(4..<8)) || isDay(second, first, number(4..<8))
      || isDay(number(6..<8), number(4..<6), number(0..<4))
  }

  /// Words that many people choose, the most common first.
  private static let commonWords = [
    "password", "passwort", "motdepasse", "contrasena", "qwerty", "qwertz", "azerty", "qwertyuiop", "asdfghjkl", "asdf",
    "zxcvbnm", "yxcvbnm", "1q2w3e4r", "1qaz2wsx", "qazwsx", "letmein", "welcome", "willkommen", "hallo", "hello",
    "iloveyou",
    "admin", "administrator", "root", "login", "master", "secret", "geheim", "test", "guest", "user", "changeme",
    "default",
    "dragon", "monkey", "princess", "sunshine", "football", "baseball", "superman", "batman", "shadow", "michael",
    "jordan",
    "charlie", "daniel", "thomas", "andreas", "jennifer", "jessica", "ashley", "nicole", "computer", "internet",
    "google",
    "samsung", "linux", "ubuntu", "debian", "fedora", "trustno", "whatever", "freedom", "starwars", "pokemon", "summer",
    "winter", "spring", "autumn", "sommer", "monday", "friday", "january", "passcode", "fingerprint", "whorl", "abc",
    "pass",
    "access", "killer", "hunter", "soccer", "hockey", "ranger", "flower", "cookie", "cheese", "banana", "orange",
    "purple",
    "yellow", "silver", "ginger", "pepper", "buster", "tigger", "love", "lovely", "baby", "angel",
  ]

  /// The number of texts with this word and as many other characters before and after it; nil if the text does not
  /// contain the word, in any case.
  private static func around(_ word: String, in text: Slice<UnsafeRawBufferPointer>) -> Double? {
    let count = word.utf8.count
    guard text.count >= count else { return nil }
    for start in text.startIndex...(text.endIndex - count) {
      let found = zip(text[start..<start + count], word.utf8).allSatisfy { byte, letter in
        (uppercase.contains(byte) ? byte | 0x20 : byte) == letter
      }
      // Twice for a capital at the beginning, and for capitals throughout.
      if found { return simple(text[..<start]) * 4 * simple(text[(start + count)...]) }
    }
    return nil
  }
}
