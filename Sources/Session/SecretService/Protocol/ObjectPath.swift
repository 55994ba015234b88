internal import SDBus
internal import SecretModel

/// The objects of the service, by their paths.
enum ObjectPath: Sendable, Hashable {
  case service
  case collection(String)
  /// Another name of a collection.
  case alias(String)
  case item(collection: String, name: String)
  case session(String)
  case prompt(String)

  private static let root = "/org/freedesktop/secrets"
  /// The path that means "no object".
  static let none = "/"

  /// The parts of paths between the root and the objects.
  enum Folder: String {
    case aliases, collection, session, prompt
  }

  /// The path of a folder, which is no object of the API.
  static func folder(_ folder: Folder) -> String { "\(root)/\(folder.rawValue)" }

  /// - Parameter path: a valid path of D-Bus, which has no empty parts.
  init?(_ path: String) {
    guard path == Self.root || path.hasPrefix("\(Self.root)/") else { return nil }
    let parts = path.dropFirst(Self.root.count).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
      .map(String.init)
    switch (parts.first, parts.count) {
    case (nil, _): self = .service
    case ("collection", 2): self = .collection(parts[1])
    case ("aliases", 2): self = .alias(parts[1])
    case ("collection", 3): self = .item(collection: parts[1], name: parts[2])
    case ("session", 2): self = .session(parts[1])
    case ("prompt", 2): self = .prompt(parts[1])
    default: return nil
    }
  }

  var text: String {
    switch self {
    case .service: Self.root
    case .collection(let name): "\(Self.root)/collection/\(name)"
    case .alias(let name): "\(Self.root)/aliases/\(name)"
    case .item(let collection, let name): "\(Self.root)/collection/\(collection)/\(name)"
    case .session(let name): "\(Self.root)/session/\(name)"
    case .prompt(let name): "\(Self.root)/prompt/\(name)"
    }
  }

  /// Text as one part of a path: characters that D-Bus does not allow are written as `_` and two hexadecimal digits.
  static func part(_ text: String) -> String {
    let allowed = { (byte: UInt8) in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    let part = text.utf8.prefix(64).map { byte in
      allowed(byte) ? String(UnicodeScalar(byte)) : "_" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
    return part.isEmpty ? "_" : part.joined()
  }
}

extension BusValue {
  /// Paths as a value of type `ao`.
  static func paths(_ paths: [ObjectPath]) -> BusValue { .array(of: "o", paths.map { .objectPath($0.text) }) }
}

extension SecretServiceEntry {
  var path: ObjectPath { .item(collection: collection, name: name) }
}

extension SecretServiceFolder {
  /// The path of a collection.
  var path: ObjectPath { .collection(name) }
}

/// Names of the Secret Service API, version 0.2, and of the portal for sandboxed programs.
enum ServiceName {
  static let bus = "org.freedesktop.secrets"

  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let session = "org.freedesktop.Secret.Session"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  static let introspectable = "org.freedesktop.DBus.Introspectable"

  static let portal = "org.freedesktop.impl.portal.Secret"
  static let portalRequest = "org.freedesktop.impl.portal.Request"
  static let portalPath = "/org/freedesktop/portal/desktop"
  /// The only program that may call the portal's back end.
  static let portalFrontEnd = "org.freedesktop.portal.Desktop"

  static let schema = "xdg:schema"

  /// The object by which `whorl` recognizes this service, and its interface, which has no members.
  static let ownPath = "/org/whorl/SecretService"
  static let own = "org.whorl.SecretService1"
}
