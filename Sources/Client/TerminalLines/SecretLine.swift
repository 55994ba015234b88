internal import SecureMemory

/// A line that is typed without echo, and the keys that edit it.
struct SecretLine: ~Copyable {
  /// The text typed so far.
  private(set) var secret = SecretBytes(count: 0)
  /// Whether more was typed than the limit. Erasing the line resets this.
  private(set) var isTooLong = false
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  mutating func type(_ byte: UInt8) {
    guard secret.count < limit else {
      isTooLong = true
      return
    }
    secret.resize(to: secret.count + 1)
    let last = secret.count - 1
    secret.withUnsafeMutableBytes { $0[last] = byte }
  }

  /// Removes the last character, with all of its bytes in UTF-8.
  mutating func erase() {
    while let byte = last {
      secret.resize(to: secret.count - 1)
      if byte & 0xC0 != 0x80 { return }
    }
  }

  /// Removes the last word and the spaces after it.
  mutating func eraseWord() {
    while last == UInt8(ascii: " ") { erase() }
    while let byte = last, byte != UInt8(ascii: " ") { erase() }
  }

  mutating func eraseLine() {
    secret.resize(to: 0)
    isTooLong = false
  }

  private var last: UInt8? {
    let count = secret.count
    return count == 0 ? nil : secret.withUnsafeBytes { $0[count - 1] }
  }

  /// Shows the end of the line, with a question mark for each byte that is not a visible character of ASCII, so that each
  /// byte takes one column and none is a command to the terminal.
  ///
  /// - Parameter count: the number of bytes; nil: the whole line.
  func show(last count: Int? = nil, on descriptor: Int32) {
    var shown = SecretBytes(count: min(count ?? secret.count, secret.count))
    let start = secret.count - shown.count
    shown.withUnsafeMutableBytes { shown in
      secret.withUnsafeBytes { secret in
        for index in shown.indices {
          let byte = secret[start + index]
          shown[index] = (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
        }
      }
    }
    try? shown.write(to: descriptor)
  }

  consuming func take() -> SecretBytes { secret }
}
