import CommandBase
internal import Prompts
import SecretModel
import Settings

/// Where git signs in: the fields of a request that identify the item.
struct GitPlace: Sendable {
  let server: String
  let port: Int64?
  /// `https` and so on.
  let networkProtocol: String
  /// The path on the server. git leaves it out unless `credential.useHttpPath` is set.
  let path: String?
  let username: String?

  /// Nil without a server or protocol, or if the protocol is a value of `kSecAttrProtocol`, such as `htps`: a remote
  /// with such an address would get the password of another protocol.
  init?(_ request: GitFields) throws(Failure) {
    guard let host = try request.text("host"), !host.isEmpty,
      let networkProtocol = try request.text("protocol"), !networkProtocol.isEmpty,
      !Self.isAppleName(networkProtocol)
    else { return nil }
    // The port follows the last colon. In an IPv6 address the text after the last colon ends with a bracket.
    if let colon = host.lastIndex(of: ":"), let port = Int64(host[host.index(after: colon)...]) {
      (server, self.port) = (String(host[..<colon]), port)
    } else {
      (server, self.port) = (host, nil)
    }
    self.networkProtocol = networkProtocol
    (path, username) = (try request.text("path"), try request.text("username"))
  }

  /// The place for a prompt: `https://example.com`.
  var description: String {
    let host = "\(PromptLabel.text(networkProtocol))://\(PromptLabel.text(server))\(port.map { ":\($0)" } ?? "")"
    return host + (path.map { "/\(PromptLabel.text($0))" } ?? "")
  }

  /// The attributes of the item that git stores for this place.
  var attributes: [AttributeName: AttributeValue] {
    var attributes = searched
    attributes[.port] = port.map { .number($0) }
    attributes[.path] = path.map { .text($0) }
    attributes[.account] = username.map { .text($0) }
    return attributes
  }

  /// The item for exactly this place and user, if there is one.
  func exactItem(_ session: Session) async throws(Failure) -> Item? {
    let wanted = PrimaryAttributes(of: .internetPassword, attributes)
    let search = ItemSearch(.internetPassword, searched, synchronizable: .any, states: [.living, .dead])
    return try await session.request { try await $0.allItems(search) }
      .first { PrimaryAttributes(of: .internetPassword, $0.attributes) == wanted }
  }

  /// The items that match the request, the best first: those without a path, then the newest. Missing fields match
  /// everything.
  func items(_ session: Session) async throws(Failure) -> [Item] {
    let search = ItemSearch(.internetPassword, searched, synchronizable: .any)
    return try await session.request { try await $0.allItems(search) }
      .filter { item in
        DockerPlace(item) == nil && item.attributes[.authenticationType] != Self.ofForms
          && item.attributes[.port] == port.map { .number($0) }
          && (path == nil || item.attributes[.path] == path.map { .text($0) })
          && (username == nil || item.attributes[.account] == username.map { .text($0) })
      }
      .sorted { left, right in
        let hasPath = (left.attributes[.path] != nil, right.attributes[.path] != nil)
        return hasPath.0 == hasPath.1 ? left.modified > right.modified : hasPath.1
      }
  }

  /// The attributes that every item of the server and the protocol has.
  private var searched: [AttributeName: AttributeValue] {
    [
      .server: .text(server), .networkProtocol: .text(Self.appleNames[networkProtocol] ?? networkProtocol),
      .accessGroup: .text(AccessGroup.commandLine),
    ]
  }

  /// `kSecAttrAuthenticationTypeHTMLForm`, of the logins of browsers: git's credential for the same server is often another.
  private static let ofForms = AttributeValue.text("form")

  /// `kSecAttrProtocol` has names of its own for these.
  private static let appleNames = [
    "https": "htps", "ftp": "ftp ", "imaps": "imps", "ssh": "ssh ", "pop3s": "pops",
  ]

  /// The other values of `kSecAttrProtocol` that are not names of protocols elsewhere.
  private static let otherAppleNames: Set = [
    "afp ", "atlk", "cvsp", "eppc", "ftpa", "ftpx", "htpx", "htsx", "ipp ", "irc ", "ldps", "ntps", "rtsx", "smb ",
    "sox ", "svn ", "teln", "tels",
  ]

  private static func isAppleName(_ name: String) -> Bool {
    appleNames.values.contains(name) || otherAppleNames.contains(name)
  }
}
