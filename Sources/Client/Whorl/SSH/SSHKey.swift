internal import FoundationEssentials
internal import KeySchemes
package import SecretModel

/// A private key for SSH: an item of class key, in an access group of its own.
package struct SSHKey: Sendable, Hashable {
  package static let accessGroup = "org.whorl.ssh"

  /// How long a touch holds for the same program, host and user; absent: for one signature.
  private static let minutes = AttributeName(rawValue: "whorl.ssh.minutes")
  /// The names of the hosts that the key signs in to, with commas between; absent: every host.
  private static let hosts = AttributeName(rawValue: "whorl.ssh.hosts")
  /// The longest that a touch may hold, in minutes.
  package static let longestGrant = 480

  package let id: ItemID
  package let name: String
  /// The public key in SSH's form.
  package let publicKey: [UInt8]
  /// SSH's name of the kind of key, such as `ssh-ed25519`.
  package let type: String
  package let access: AccessControl
  /// How long a touch holds for the same program, host and user, in minutes; 0: for one signature.
  package let grantedMinutes: Int
  /// The names of the only hosts that the key signs in to; empty for a key that is used for everything.
  package let hosts: [String]
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
    grantedMinutes = if case .number(let minutes)? = item.attributes[Self.minutes] { Int(minutes) } else { 0 }
    hosts =
      if case .text(let names)? = item.attributes[Self.hosts] { names.split(separator: ",").map(String.init) } else {
        []
      }
  }

  /// The search for these keys, in a state.
  package static func search(_ states: Set<Item.State> = [.living]) -> ItemSearch {
    ItemSearch(.key, groups: .named([accessGroup]), states: states)
  }

  /// The item of a new key.
  package static func item(named name: String, access: AccessControl, grantedMinutes: Int, hosts: [String]) -> NewItem {
    var attributes: [AttributeName: AttributeValue] = [.label: .text(name), .accessGroup: .text(accessGroup)]
    if grantedMinutes > 0 { attributes[minutes] = .number(Int64(grantedMinutes)) }
    if !hosts.isEmpty { attributes[self.hosts] = .text(hosts.joined(separator: ",")) }
    return NewItem(.key, attributes, access: access)
  }

  /// The public key as a line of `authorized_keys`.
  package var line: String { "\(type) \(Data(publicKey).base64EncodedString()) \(name)" }
}
