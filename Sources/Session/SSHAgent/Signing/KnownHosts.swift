internal import FoundationEssentials
internal import Glibc
internal import KeySchemes
internal import Keys
internal import Whorl

/// The names of hosts by their keys, from the files in which `ssh` remembers them (sshd(8), SSH_KNOWN_HOSTS FILE
/// FORMAT). Entries of certification authorities and revoked keys name no host.
package struct KnownHosts: Sendable {
  /// The longest file that is read, in bytes.
  private static let limit = 4 << 20

  private let files: [String]

  /// - Parameter files: may be missing.
  package init(files: [String]) { self.files = files }

  /// The name of the host with this key; nil where no file names it.
  ///
  /// A hashed name cannot be read, only compared, so the candidates are tried.
  ///
  /// - Parameter candidates: the names to try and to prefer, such as those on the command line of `ssh`.
  package func name(ofHostWith key: [UInt8], candidates: [String]) -> String? {
    let encoded = Data(key).base64EncodedString()
    var first: String?
    for file in files {
      guard let bytes = try? SmallFile.read(file, limit: Self.limit) else { continue }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let fields = line.split { $0 == " " || $0 == "\t" }
        guard fields.count >= 3, !fields[0].hasPrefix("@"), !fields[0].hasPrefix("#"), fields[2] == encoded else {
          continue
        }
        let names = fields[0].split(separator: ",")
        if let named = candidates.first(where: { candidate in names.contains { Self.matches($0, candidate) } }) {
          return named
        }
        // A pattern is not the name of one host.
        first = first ?? names.first { !$0.hasPrefix("|") && $0.allSatisfy { !"*?!".contains($0) } }.map(String.init)
      }
    }
    return first
  }

  /// Whether an entry is this name, or the hash of it: `|1|SALT|HASH`, both in base 64, with HMAC-SHA1.
  private static func matches(_ entry: Substring, _ name: String) -> Bool {
    guard entry.hasPrefix("|1|") else { return entry.lowercased() == name.lowercased() }
    let parts = entry.dropFirst(3).split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count == 2, let salt = Data(base64Encoded: String(parts[0])),
      let hash = Data(base64Encoded: String(parts[1])), !salt.isEmpty
    else { return false }
    return MAC.hmac(.sha1, publicKey: Array(salt), Array(name.lowercased().utf8)) == Array(hash)
  }

  /// The names of hosts that the arguments of `ssh` may contain: every word, also without a user before it, and with
  /// the port of `-p`.
  package static func candidates(in arguments: [String]) -> [String] {
    var names: [String] = []
    var ports: [String] = []
    for (place, word) in arguments.enumerated().dropFirst() {
      if word == "-p", arguments.indices.contains(place + 1) {
        ports.append(arguments[place + 1])
      } else if word.hasPrefix("-p") {
        ports.append(String(word.dropFirst(2)))
      } else if !word.hasPrefix("-"), let name = word.split(separator: "@").last {
        names.append(String(name))
      }
    }
    return names.flatMap { name in ports.map { "[\(name)]:\($0)" } + [name] }
  }
}
