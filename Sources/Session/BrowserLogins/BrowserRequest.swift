internal import FoundationEssentials
internal import Moving
internal import Primitives

/// What a browser may ask for. The names are those of the protocol of KeePassXC-Browser.
enum BrowserAction: String, Sendable {
  case changePublicKeys = "change-public-keys"
  case databaseHash = "get-databasehash"
  case associate
  case testAssociate = "test-associate"
  case logins = "get-logins"
  case setLogin = "set-login"
  case generatePassword = "generate-password"
  case lock = "lock-database"
  case groups = "get-database-groups"
  case newGroup = "create-new-group"
  case oneTimeCode = "get-totp"
  case autotype = "request-autotype"
  case passkeysGet = "passkeys-get"
  case passkeysRegister = "passkeys-register"
  case deleteEntry = "delete-entry"
  case allEntries = "get-database-entries"
}

/// The numbers of errors that the extension knows, with the words that it shows.
enum BrowserError: Int, Error, Sendable {
  case closed = 1
  case noClientKey = 3
  case undecryptable = 4
  case refused = 6
  case tooLong = 7
  case notAssociated = 8
  case unknownAction = 12
  case empty = 13
  case noAddress = 14
  case noLogins = 15
  case noNewGroup = 17
  case noEntry = 18
  case noList = 19
  case noAttestation = 20

  var words: String {
    switch self {
    case .closed: "Database not opened"
    case .noClientKey: "Client public key not received"
    case .undecryptable: "Cannot decrypt message"
    case .refused: "Action cancelled or denied"
    case .tooLong: "Message encryption failed"
    case .notAssociated: "Association failed: connect the browser again"
    case .unknownAction: "Incorrect action"
    case .empty: "Empty message received"
    case .noAddress: "No URL provided"
    case .noLogins: "No logins found"
    case .noNewGroup: "Whorl has no groups"
    case .noEntry: "No valid UUID provided"
    case .noList: "Access to all entries is denied"
    case .noAttestation: "Whorl offers passkeys as a security key of the browser itself"
    }
  }
}

/// What is around a message: all of it is known to whoever can read the pipe.
struct BrowserEnvelope: Decodable, Sendable {
  var action: String?
  var message: String?
  var nonce: String?
  var publicKey: String?
  var clientID: String?
  var requestID: String?
  /// Whether the person has asked the extension to have the store unlocked.
  var triggerUnlock: String?

  private static let known: Set<String> = [
    "action", "message", "nonce", "publicKey", "clientID", "requestID", "triggerUnlock",
  ]

  /// Nil for what is no JSON of this form.
  init?(_ bytes: SharedSecret) {
    let open = OpenText(bytes, open: Self.known)
    guard let read = try? JSONDecoder().decode(Self.self, from: Data(open.bytes)) else { return nil }
    self = read
  }

  /// The longest texts that are given back in an answer, in bytes.
  private static let longest = 64

  /// The request's own mark, for the error that answers it.
  var mark: String? { requestID.flatMap { $0.utf8.count <= Self.longest ? $0 : nil } }
}

/// The text of a sealed message. Passwords stay in locked memory; the rest, such as addresses and users, is not secret.
struct BrowserRequest: Sendable {
  private struct Fields: Decodable {
    var action: String?
    var key: String?
    var idKey: String?
    var id: String?
    var url: String?
    var submitUrl: String?
    var login: String?
    var password: OpenText.Mark?
    var uuid: String?
  }

  private static let known: Set<String> = [
    "action", "key", "idKey", "id", "url", "submitUrl", "login", "uuid",
  ]

  let action: String?
  let key: String?
  let idKey: String?
  let id: String?
  let url: String?
  let submitURL: String?
  let login: String?
  let password: SharedSecret?
  let uuid: String?

  /// Nil for what is no JSON of this form.
  init?(_ bytes: SharedSecret) {
    let open = OpenText(bytes, open: Self.known)
    guard let fields = try? JSONDecoder().decode(Fields.self, from: Data(open.bytes)) else { return nil }
    (action, key, idKey, id) = (fields.action, fields.key, fields.idKey, fields.id)
    (url, submitURL, login, uuid) = (fields.url, fields.submitUrl, fields.login, fields.uuid)
    password = fields.password.flatMap { open.secret($0) }
  }
}
