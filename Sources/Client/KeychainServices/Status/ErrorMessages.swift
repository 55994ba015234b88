// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are Apple's.

public import Foundation

/// The English message of a status. Never nil; optional because Apple's result is.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
  words(for: status) as NSString
}

/// The message of a status.
func words(for status: OSStatus) -> String {
  if let message = statusMessages[status] { return message }
  let index = Int(firstRareStatus) - Int(status)
  let names = rareStatusNames.split(separator: " ")
  guard names.indices.contains(index) else { return "OSStatus \(status)." }
  return sentence(from: names[index])
}

/// Turns "InvalidKeyUsageMask" into "Invalid key usage mask." Abbreviations keep their case.
private func sentence(from name: Substring) -> String {
  var parts: [String] = []
  let letters = Array(name)
  for (index, letter) in letters.enumerated() {
    let afterSmall = index > 0 && !letters[index - 1].isUppercase
    let beforeSmall = index + 1 < letters.count && letters[index + 1].isLowercase
    if letter.isUppercase, index > 0, afterSmall || beforeSmall { parts.append("") }
    if parts.isEmpty { parts.append("") }
    parts[parts.count - 1].append(letter)
  }
  let words = parts.enumerated().map { index, part in
    index == 0 || part.dropFirst().contains(where: \.isUppercase) ? part : part.lowercased()
  }
  return words.joined(separator: " ") + "."
}
