internal import Primitives

/// The references between entries of KeePass, such as `{REF:P@I:…}` for the password of the entry with that identifier.
/// KeePassXC writes them for clones.
struct KeePassReferences {
  /// A reference to something that is not in the file.
  struct Unresolved: Error {
    var field: String
    /// As the words after the field's name.
    var why: String
  }

  private struct Target {
    let entry: PasswordEntry
    /// Of its password (P) and its notes (N), those that refer to other entries themselves. Long ones are searched once, and
    /// not for each entry that refers to them.
    let referring: Set<Character>
  }

  /// By their identifiers.
  private var targets: [String: Target] = [:]

  /// The most references that are followed from one field.
  private static let longest = 8
  /// The longest text that is taken over as a title, a user, an address or a field, in bytes.
  private static let longestText = 1 << 10

  /// - Parameter identifier: in base64, as the export has it. It is not secret.
  mutating func add(_ entry: PasswordEntry, _ identifier: String) {
    guard let bytes = Base64URL.bytes(of: identifier), bytes.count == 16 else { return }
    let secrets = [("P" as Character, nil), ("N", "notes" as String?)].filter { _, label in
      entry.secrets.first { $0.label == label }?.value.bytes.withUnsafeBytes(FieldProblem.isReference) ?? false
    }
    targets[Hexadecimal.text(of: bytes)] = Target(entry: entry, referring: Set(secrets.map(\.0)))
  }

  /// The entry with its references resolved.
  func resolved(_ entry: PasswordEntry) -> Result<PasswordEntry, Unresolved> {
    var result = entry
    do throws(Unresolved) {
      for (field, path) in [("title", \PasswordEntry.title), ("user", \.user), ("address", \.url)] {
        result[keyPath: path] = try text(entry[keyPath: path], field)
      }
      for (place, address) in entry.furtherURLs.enumerated() {
        result.furtherURLs[place] = try text(address, "address")
      }
      for (name, value) in entry.fields { result.fields[name] = try text(value, name) }
      result.secrets = []
      for secret in entry.secrets {
        let value = try value(secret.value, secret.label ?? "password", Self.longest)
        result.secrets.append(PasswordEntry.Secret(label: secret.label, value: value))
      }
    } catch {
      return .failure(error)
    }
    return .success(result)
  }

  private func text(_ text: String, _ field: String) throws(Unresolved) -> String {
    guard text.contains("{REF:") || text.contains("{ref:") else { return text }
    let found = try value(SharedSecret(SecretBytes(copying: Array(text.utf8).span)), field, Self.longest)
    try Self.check(found.bytes.count, field)
    return found.bytes.plainText ?? ""
  }

  private func value(_ value: SharedSecret, _ field: String, _ left: Int) throws(Unresolved) -> SharedSecret {
    let found = value.bytes.withUnsafeBytes { bytes in
      (refers: FieldProblem.isReference(bytes), reference: Reference(bytes))
    }
    guard found.refers else { return value }
    guard let reference = found.reference, left > 0 else {
      throw Unresolved(field: field, why: "refers to another entry in a way that is not read here")
    }
    guard let target = targets[reference.identifier] else {
      throw Unresolved(field: field, why: "refers to another entry, which is not in the file")
    }
    let entry = target.entry
    let next: SharedSecret?
    switch reference.field {
    case "P": next = entry.secrets.first { $0.label == nil }?.value
    case "N": next = entry.secrets.first { $0.label == "notes" }?.value
    case "U": next = try Self.secret(entry.user, field)
    case "T": next = try Self.secret(entry.title, field)
    default: next = try Self.secret(entry.url, field)
    }
    let referred = next ?? SharedSecret(SecretBytes(count: 0))
    if "PN".contains(reference.field), !target.referring.contains(reference.field) { return referred }
    return try self.value(referred, field, left - 1)
  }

  private static func secret(_ text: String, _ field: String) throws(Unresolved) -> SharedSecret {
    try check(text.utf8.count, field)
    return SharedSecret(SecretBytes(copying: Array(text.utf8).span))
  }

  /// Refuses a long text that is no secret, of which each entry that refers to it would have a copy.
  private static func check(_ count: Int, _ field: String) throws(Unresolved) {
    guard count <= longestText else {
      throw Unresolved(field: field, why: "refers to a text of more than \(longestText >> 10) KiB")
    }
  }

  /// `{REF:F@I:ID}`, as the whole value of a field.
  private struct Reference {
    /// P, N, U, T or A: password, notes, user, title, address.
    let field: Character
    /// 32 hexadecimal digits, in lower case.
    let identifier: String

    init?(_ bytes: UnsafeRawBufferPointer) {
      // The exact length, so that only a reference is copied into a string, and no other secret.
      guard bytes.count == 42, bytes.starts(with: "{REF:".utf8) || bytes.starts(with: "{ref:".utf8) else { return nil }
      let text = String(decoding: bytes, as: UTF8.self).uppercased()
      let parts = text.dropFirst("{REF:".count).dropLast()
      guard let field = parts.first, "PNUTA".contains(field), parts.dropFirst().hasPrefix("@I:"), text.hasSuffix("}"),
        parts.dropFirst(4).allSatisfy(\.isHexDigit)
      else { return nil }
      (self.field, identifier) = (field, parts.dropFirst(4).lowercased())
    }
  }
}
