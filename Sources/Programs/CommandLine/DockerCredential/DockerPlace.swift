import CommandBase
import SecretModel
import Settings

/// A registry as docker names it: `https://index.test/v1/`, `c.test`, `localhost:5000`. A name is stored as attributes
/// of an internet password, which give the same name again.
struct DockerPlace: Sendable, Hashable {
  private let server: String
  private let port: Int64?
  /// `https` or `http`, where the name has one.
  private let networkProtocol: String?
  /// The path, from its first slash on.
  private let path: String?

  /// Tells docker's items from git's.
  static let securityDomain = AttributeValue.text("docker")

  /// `kSecAttrProtocol` has names of its own for these.
  private static let appleNames = ["https": "htps", "http": "http"]

  init(_ name: String) {
    let mark = name.firstRange(of: "://")
    let networkProtocol = mark.map { String(name[..<$0.lowerBound]) }
    let rest = name[(mark?.upperBound ?? name.startIndex)...]
    let host = rest.prefix { $0 != "/" }
    guard networkProtocol.map({ Self.appleNames[$0] != nil }) ?? true, !host.isEmpty else {
      (server, port, self.networkProtocol, path) = (name, nil, nil, nil)
      return
    }
    self.networkProtocol = networkProtocol
    path = host.endIndex == rest.endIndex ? nil : String(rest[host.endIndex...])
    // The port follows the last colon, except for colons inside a bracketed IPv6 address.
    if let colon = host.lastIndex(of: ":"), colon > host.startIndex,
      let port = UInt16(host[host.index(after: colon)...]), port > 0, host[colon...] == ":\(port)"
    {
      (server, self.port) = (String(host[..<colon]), Int64(port))
    } else {
      (server, port) = (String(host), nil)
    }
  }

  /// Nil for an item that docker has not stored.
  init?(_ item: Item) {
    guard item.attributes[.securityDomain] == Self.securityDomain, case .text(let server)? = item.attributes[.server]
    else { return nil }
    self.server = server
    port = if case .number(let port)? = item.attributes[.port] { port } else { nil }
    path = if case .text(let path)? = item.attributes[.path] { path } else { nil }
    networkProtocol =
      if case .text(let name)? = item.attributes[.networkProtocol] {
        Self.appleNames.first { $0.value == name }?.key
      } else { nil }
  }

  /// The name, as docker gave it.
  var name: String {
    "\(networkProtocol.map { "\($0)://" } ?? "")\(server)\(port.map { ":\($0)" } ?? "")\(path ?? "")"
  }

  /// The attributes of the item for this registry.
  func attributes(account: String) -> [AttributeName: AttributeValue] {
    var attributes = Self.searched
    attributes[.server] = .text(server)
    attributes[.port] = port.map { .number($0) }
    attributes[.networkProtocol] = networkProtocol.flatMap { Self.appleNames[$0] }.map { .text($0) }
    attributes[.path] = path.map { .text($0) }
    attributes[.account] = .text(account)
    return attributes
  }

  /// The items for this registry, the one that was changed last first.
  func items(_ session: Session, _ states: Set<Item.State> = [.living]) async throws(Failure) -> [Item] {
    var searched = Self.searched
    searched[.server] = .text(server)
    let search = ItemSearch(.internetPassword, searched, synchronizable: .any, states: states)
    return try await session.request { try await $0.allItems(search) }
      .filter { DockerPlace($0) == self }
      .sorted { $0.modified > $1.modified }
  }

  /// All items that docker has stored, the one that was changed last first.
  static func allItems(_ session: Session) async throws(Failure) -> [Item] {
    try await session.request { try await $0.allItems(ItemSearch(.internetPassword, searched, synchronizable: .any)) }
      .sorted { $0.modified > $1.modified }
  }

  /// The attributes that every item of docker has.
  private static let searched: [AttributeName: AttributeValue] = [
    .securityDomain: securityDomain, .accessGroup: .text(AccessGroup.commandLine),
  ]
}
