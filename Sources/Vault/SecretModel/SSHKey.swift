// How keys for SSH are kept as items, and where they may sign in.

internal import FoundationEssentials
internal import Primitives

/// A private key for SSH: an item of class key, in an access group of its own.
package struct SSHKey: Sendable, Hashable {
  package static let accessGroup = "org.whorl.ssh"

  /// How long a touch is valid for the same program, host and user; absent: for one signature.
  private static let minutes = AttributeName(rawValue: "whorl.ssh.minutes")
  /// The hosts that the key signs in to, with commas between them; absent: all hosts.
  private static let hosts = AttributeName(rawValue: "whorl.ssh.hosts")
  /// When the key is removed.
  private static let end = AttributeName(rawValue: "whorl.ssh.end")
  /// A certificate of the key, which the agent lists beside it.
  private static let certificate = AttributeName(rawValue: "whorl.ssh.certificate")
  /// The longest validity of a touch, in minutes.
  package static let longestGrant = 480

  package let id: ItemID
  package let name: String
  /// The public key in SSH's form.
  package let publicKey: [UInt8]
  /// SSH's name of the kind of key, such as `ssh-ed25519`.
  package let type: String
  package let access: AccessControl
  /// How long a touch is valid for the same program, host and user, in minutes; 0: for one signature.
  package let grantedMinutes: Int
  /// The only hosts that the key signs in to. It then signs nothing else. Empty for a key without restrictions.
  package let hosts: [SSHHostRule]
  /// When the key is removed, in seconds since 1970; nil for a key that stays.
  package let end: Double?
  /// The certificate stored with the key, in SSH's form; nil if there is none, or it is for another key.
  package let certificate: [UInt8]?
  package let state: Item.State

  /// Nil for an item that is no such key.
  package init?(_ item: Item) {
    guard item.itemClass == .key, item.attributes[.accessGroup] == .text(Self.accessGroup),
      case .bytes(let publicKey)? = item.attributes[.sshPublicKey]
    else { return nil }
    var reader = SSHReader(publicKey)
    guard let type = try? reader.text() else { return nil }
    (id, access, state) = (item.id, item.access, item.state)
    (self.publicKey, self.type) = (publicKey, type)
    name = if case .text(let label)? = item.attributes[.label] { label } else { "" }
    grantedMinutes = if case .number(let minutes)? = item.attributes[Self.minutes] { Int(clamping: minutes) } else { 0 }
    // A key whose restriction cannot be read must not be used as if it had none.
    switch item.attributes[Self.hosts] {
    case nil: hosts = []
    case .text(let text)?:
      let rules = text.split(separator: ",", omittingEmptySubsequences: false).map { SSHHostRule(String($0)) }
      hosts = rules.compactMap { $0 }
      guard hosts.count == rules.count else { return nil }
    default: return nil
    }
    switch item.attributes[Self.end] {
    case nil: end = nil
    case .date(let date)?: end = date
    default: return nil
    }
    if case .bytes(let bytes)? = item.attributes[Self.certificate], Self.isCertificate(bytes, of: publicKey) {
      certificate = bytes
    } else {
      certificate = nil
    }
  }

  /// The search for these keys, in a state.
  package static func search(_ states: Set<Item.State> = [.living]) -> ItemSearch {
    ItemSearch(.key, groups: .named([accessGroup]), synchronizable: .any, states: states)
  }

  /// The item of a new key.
  ///
  /// - Parameter end: when the key is removed, in seconds since 1970; nil for a key that stays.
  package static func item(
    named name: String, access: AccessControl, grantedMinutes: Int, hosts: [SSHHostRule], end: Double?,
    certificate: [UInt8]? = nil
  ) -> NewItem {
    var attributes: [AttributeName: AttributeValue] = [.label: .text(name), .accessGroup: .text(accessGroup)]
    if grantedMinutes > 0 { attributes[minutes] = .number(Int64(clamping: grantedMinutes)) }
    if !hosts.isEmpty { attributes[self.hosts] = .text(hosts.map(\.text).joined(separator: ",")) }
    if let end { attributes[self.end] = .date(end) }
    if let certificate { attributes[self.certificate] = .bytes(certificate) }
    return NewItem(.key, attributes, access: access)
  }

  /// The change that replaces the key's certificate, or removes it.
  package static func change(certificate: [UInt8]?) -> ItemChange {
    ItemChange(attributes: [self.certificate: certificate.map { .bytes($0) }])
  }

  /// Whether bytes are a user's certificate of this public key (PROTOCOL.certkeys of OpenSSH). The signature of its authority
  /// is not checked here.
  package static func isCertificate(_ bytes: [UInt8], of publicKey: [UInt8]) -> Bool {
    var (reader, plain) = (SSHReader(bytes), SSHReader(publicKey))
    do throws(SSHFormatError) {
      guard try reader.text() == plain.text() + "-cert-v01@openssh.com" else { return false }
      // The nonce.
      _ = try reader.string()
      while !plain.isAtEnd { guard try reader.string() == plain.string() else { return false } }
      // The serial number; the type, which is 1 for a user; the name, the users and the time.
      _ = try reader.longNumber()
      guard try reader.number() == 1 else { return false }
      _ = (try reader.string(), try reader.string(), try reader.longNumber(), try reader.longNumber())
      // The critical options, the extensions, a reserved field, the authority's key and its signature.
      for _ in 0..<5 { _ = try reader.string() }
      try reader.end()
      return true
    } catch {
      return false
    }
  }

  /// Whether the lifetime of the key is over: the key is no longer used, and will be removed.
  ///
  /// - Parameter time: in seconds since 1970.
  package func hasEnded(at time: Double) -> Bool { end.map { time >= $0 } ?? false }

  /// The public key as a line of `authorized_keys`.
  package var line: String { "\(type) \(Data(publicKey).base64EncodedString()) \(name)" }

  /// The certificate as a line of a file of certificates.
  package var certificateLine: String? {
    certificate.map { "\(type)-cert-v01@openssh.com \(Data($0).base64EncodedString()) \(name)" }
  }
}

/// Where a restricted key for SSH signs in: to a host, from this machine or from a host that the agent was forwarded to
/// (`ssh -A`).
///
/// The text is that of `ssh-add -h`: `[USER@]HOST`, or `FROM>[USER@]HOST`.
package struct SSHHostRule: Sendable, Hashable {
  /// The host that the agent was forwarded to; nil for this machine.
  package let from: String?
  /// The only user on the host; nil for any.
  package let user: String?
  /// As `known_hosts` names it.
  package let host: String

  /// Nil for text of another form.
  package init?(_ text: String) {
    let steps = text.split(separator: ">", omittingEmptySubsequences: false)
    guard steps.count <= 2, let to = steps.last else { return nil }
    let parts = to.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    guard let host = parts.last else { return nil }
    from = steps.count == 2 ? String(steps[0]) : nil
    user = parts.count == 2 ? String(parts[0]) : nil
    self.host = String(host)
    guard [from, user, self.host].allSatisfy({ $0.map(Self.isName) ?? true }) else { return nil }
  }

  package var text: String { (from.map { "\($0)>" } ?? "") + (user.map { "\($0)@" } ?? "") + host }

  /// Whether text can be a user's or host's name here. Rules are stored with commas between them.
  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.contains { $0 == "," || $0 == "@" || $0.isWhitespace }
  }
}
