internal import CPSL
internal import Glibc
internal import Primitives

/// Where a page is: the scheme, the host and the port of its address. Paths do not matter.
package struct SiteAddress: Sendable, Hashable {
  package enum Scheme: String, Sendable {
    case http, https

    package var usualPort: UInt16 {
      switch self {
      case .http: 80
      case .https: 443
      }
    }
  }

  package let scheme: Scheme
  /// In lower case: a name in ASCII, as DNS has it, an IPv4 address, or an IPv6 address in brackets.
  package let host: String
  package let port: UInt16

  /// The longest address that is read, in bytes. Browsers themselves show no longer ones.
  private static let longest = 64 << 10
  /// The longest name and the longest label of DNS.
  private static let (longestName, longestLabel) = (253, 63)

  /// The address of a page, as a browser gives it.
  package init?(page text: String) { self.init(text, missing: nil) }

  /// The address in an item, which a person may have written without a scheme: then it is `https`.
  package init?(saved text: String) { self.init(text, missing: .https) }

  package init?(_ scheme: Scheme, server: String, port: UInt16?) {
    guard let host = Self.host(server) else { return nil }
    (self.scheme, self.host, self.port) = (scheme, host, port ?? scheme.usualPort)
  }

  private init?(_ text: String, missing: Scheme?) {
    guard text.utf8.count <= Self.longest else { return nil }
    let rest: Substring
    if let mark = text.firstRange(of: "://") {
      guard let scheme = Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else { return nil }
      self.scheme = scheme
      rest = text[mark.upperBound...]
    } else {
      guard let missing else { return nil }
      scheme = missing
      rest = text[...]
    }
    // A name and a password in front of the host do not belong to it, whatever they look like.
    let authority = rest.prefix { !"/?#".contains($0) }
    let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    guard let (name, digits) = Self.parts(of: place), let host = Self.host(String(name)) else { return nil }
    self.host = host
    if let digits, !digits.isEmpty {
      guard let port = OutsideNumber(digits: digits)?.number(in: 1...UInt16.max) else { return nil }
      self.port = port
    } else {
      port = scheme.usualPort
    }
  }

  /// The host and the digits of a port.
  private static func parts(of place: Substring) -> (host: Substring, port: Substring?)? {
    guard place.first == "[" else {
      let parts = place.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2 else { return nil }
      return (parts[0], parts.count == 2 ? parts[1] : nil)
    }
    guard let end = place.firstIndex(of: "]") else { return nil }
    let rest = place[place.index(after: end)...]
    guard rest.isEmpty || rest.first == ":" else { return nil }
    return (place[...end], rest.isEmpty ? nil : rest.dropFirst())
  }

  // MARK: Hosts

  /// The one form of a host; nil for what is no host.
  private static func host(_ text: String) -> String? {
    if text.first == "[" { return text.last == "]" ? address6(String(text.dropFirst().dropLast())) : nil }
    guard let name = text.utf8.allSatisfy({ $0 < 0x80 }) ? text.lowercased() : ascii(text) else { return nil }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.utf8.count <= longestName,
      labels.allSatisfy({ (1...longestLabel).contains($0.utf8.count) && $0.utf8.allSatisfy(isOfLabel) })
    else { return nil }
    // Browsers read a last label of digits as part of an IPv4 address, in any of its forms. Only the usual one is taken.
    guard let last = labels.last, !last.utf8.allSatisfy({ (0x30...0x39).contains($0) }), !last.hasPrefix("0x") else {
      return isAddress4(name) ? name : nil
    }
    return name
  }

  private static func isOfLabel(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func isAddress4(_ text: String) -> Bool {
    var address = in_addr()
    return inet_pton(AF_INET, text, &address) == 1
  }

  private static func address6(_ text: String) -> String? {
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    var shown = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    // Writes at most the buffer's size, with its terminator.
    guard inet_ntop(AF_INET6, &address, &shown, socklen_t(shown.count)) != nil else { return nil }
    return "[\(String(decoding: shown.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))]"
  }

  /// An international name as DNS and browsers have it (IDNA 2008 with the mapping of UTS 46).
  private static func ascii(_ name: String) -> String? {
    var result: UnsafeMutablePointer<CChar>?
    // The result is ours, and freed below.
    guard
      idn2_to_ascii_8z(name, &result, Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue))
        == IDN2_OK.rawValue,
      let result
    else { return nil }
    defer { idn2_free(result) }
    return String(cString: result).lowercased()
  }

  var isNumeric: Bool { host.first == "[" || Self.isAddress4(host) }

  // MARK: Words

  /// The address for people and for items, without a port that is the usual one: `https://example.com`.
  package var text: String { "\(scheme.rawValue)://\(host)\(port == scheme.usualPort ? "" : ":\(port)")" }
}

// MARK: Matching

extension SiteAddress {
  /// Whether what was saved for this address may be given to a page.
  ///
  /// The host of the page is the same, or a name below it. It is never found by a part of a name: both have the same
  /// registrable domain by the list of public suffixes, so that nothing that was saved for `co.uk` or `github.io` goes to
  /// everybody below. Scheme and port are the same; what was saved for `http` also goes to `https`, which is safer, where
  /// both have their usual ports.
  package func covers(_ page: SiteAddress) -> Bool {
    let isSameDoor =
      scheme == page.scheme ? port == page.port : scheme == .http && hasUsualPort && page.hasUsualPort
    guard isSameDoor else { return false }
    if host == page.host { return true }
    guard !isNumeric, !page.isNumeric, page.host.hasSuffix(".\(host)") else { return false }
    guard let domain = PublicSuffixes.registrableDomain(of: host) else { return false }
    return domain == PublicSuffixes.registrableDomain(of: page.host)
  }

  /// Whether a form of this page may be sent to an address: to one of the same registrable domain, and not from `https` to
  /// `http`.
  func maySend(to target: SiteAddress) -> Bool {
    guard scheme == .http || target.scheme == .https else { return false }
    if host == target.host { return true }
    guard !isNumeric, !target.isNumeric, let domain = PublicSuffixes.registrableDomain(of: host) else { return false }
    return domain == PublicSuffixes.registrableDomain(of: target.host)
  }

  private var hasUsualPort: Bool { port == scheme.usualPort }
}

/// The list of public suffixes, of the machine or that of libpsl: names below which anybody can register one.
private enum PublicSuffixes {
  /// It is never changed or freed. Nil where there is no list.
  private final class List: @unchecked Sendable {
    // Immutable after this.
    let list = psl_latest(nil)
  }

  private static let list = List()

  /// The name below a public suffix; nil for a suffix, and without a list.
  static func registrableDomain(of host: String) -> String? {
    guard let list = list.list else { return nil }
    return host.withCString { name in
      // Points into the name.
      psl_registrable_domain(list, name).map { String(cString: $0) }
    }
  }
}
