internal import FoundationEssentials
internal import Keys
internal import Primitives

/// The names of hosts in a line of `known_hosts` or after the word `Host` of `ssh_config`: names, patterns with `*` and
/// `?`, hashes of names, each of them negated by a leading `!`.
struct HostPatterns {
  private let meant: [Entry]
  private let excluded: [Entry]

  init(_ entries: some Sequence<some StringProtocol>) {
    var (meant, excluded): ([Entry], [Entry]) = ([], [])
    for entry in entries {
      if entry.hasPrefix("!") {
        excluded.append(Entry(String(entry.dropFirst())))
      } else {
        meant.append(Entry(String(entry)))
      }
    }
    (self.meant, self.excluded) = (meant, excluded)
  }

  /// Whether a name matches, as OpenSSH decides it.
  func matches(_ name: String) -> Bool {
    meant.contains { $0.matches(name) } && !excluded.contains { $0.matches(name) }
  }

  /// Whether a name is one of these itself, and does not only match a pattern.
  func contains(_ name: String) -> Bool {
    meant.contains { $0.isName && $0.matches(name) } && matches(name)
  }

  /// The names that can be read.
  var names: [String] {
    meant.filter { $0.isName && !$0.isHashed }.map(\.text).filter { name in !excluded.contains { $0.matches(name) } }
  }

  /// The ports of entries like `[host.test]:2222`.
  var ports: [String] { meant.compactMap { $0.isHashed ? nil : HostName($0.text).port } }

  private struct Entry {
    let text: String

    init(_ text: String) { self.text = text }

    var isHashed: Bool { text.hasPrefix("|") }

    var isName: Bool { isHashed || !text.contains { "*?".contains($0) } }

    func matches(_ name: String) -> Bool {
      isHashed ? isHash(of: name) : Self.matches(Array(name.lowercased().utf8), Array(text.lowercased().utf8))
    }

    /// The hash of a name is `|1|SALT|HASH`, both in base 64, with HMAC-SHA1.
    private func isHash(of name: String) -> Bool {
      let parts = text.split(separator: "|", omittingEmptySubsequences: false)
      guard parts.count == 4, parts[1] == "1", let salt = Data(base64Encoded: String(parts[2])),
        let hash = Data(base64Encoded: String(parts[3])), !salt.isEmpty
      else { return false }
      return MAC.hmac(.sha1, publicKey: Array(salt), Array(name.lowercased().utf8)) == Array(hash)
    }

    /// Whether a pattern, in which `*` stands for any bytes and `?` for one, matches a name. The time is at most the
    /// product of both lengths, since only the last `*` is tried again.
    private static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
      let (any, one) = (UInt8(ascii: "*"), UInt8(ascii: "?"))
      var (place, next) = (0, 0)
      var star: (next: Int, place: Int)?
      while place < name.count {
        if next < pattern.count, pattern[next] == any {
          star = (next, place)
          next += 1
        } else if next < pattern.count, pattern[next] == one || pattern[next] == name[place] {
          (place, next) = (place + 1, next + 1)
        } else if let last = star {
          star = (last.next, last.place + 1)
          (place, next) = (last.place + 1, last.next + 1)
        } else {
          return false
        }
      }
      return pattern[next...].allSatisfy { $0 == any }
    }
  }
}
