import Testing

/// What a program does on the bus in a day of its use: how it opens sessions and connections, how many items it has, and
/// how it names them. Read from the sources of each, where they are public.
struct ClientHabit: Sendable, CustomTestStringConvertible {
  enum Sessions {
    /// One for each connection, as libsecret has it, which closes none.
    case one
    /// A new one for each use of a secret.
    case forEachUse
    /// The same, and it is closed after that.
    case closedAfterUse
  }

  enum Reading {
    /// A search for the attributes, which unlocks what it has found, and its secret.
    case search
    /// The list of the collection, all properties of each item at once, and the secrets in one call.
    case wholeCollection
  }

  var name: String
  /// How many connections it opens: a process that is started for each use has one for each.
  var connections = 1
  var sessions = Sessions.one
  /// Whether secrets are encrypted on the bus (Diffie-Hellman).
  var isEncrypted = true
  var items = 1
  /// With `#` for the number of the item.
  var label: String
  var attributes: [String: String]
  /// The length of a secret.
  var secret = 24
  /// The label of a collection that it makes for itself.
  var collection: String?
  var reading = Reading.search
  /// How often it reads each item.
  var reads = 1

  var testDescription: String { name }

  private static func libsecret(_ schema: String, _ attributes: [String: String]) -> [String: String] {
    attributes.merging(["xdg:schema": schema]) { $1 }
  }

  private static let goKeyring = ["service": "gh:github#.example", "username": "alice"]

  static let all = [
    ClientHabit(
      name: "secretstorage (Python)", sessions: .forEachUse, items: 20, label: "item #", attributes: ["number": "#"],
      reads: 5),
    ClientHabit(
      name: "keyring (Python)", connections: 20, sessions: .forEachUse, items: 5,
      label: "Password for 'alice' on 'service #'",
      attributes: ["application": "Python keyring library", "service": "service #", "username": "alice"],
      reads: 4),
    ClientHabit(
      name: "secret-tool, in a script", connections: 20, label: "backup #", attributes: ["backup": "#", "host": "nas"],
      reads: 20),
    ClientHabit(
      name: "go-keyring", sessions: .closedAfterUse, isEncrypted: false, items: 5,
      label: "Password for 'alice' on 'service #'", attributes: ["service": "service #", "username": "alice"],
      reads: 10),
    ClientHabit(
      name: "gh, as git's helper", connections: 20, sessions: .closedAfterUse, isEncrypted: false, items: 2,
      label: "Password for 'alice' on 'gh:github#.example'", attributes: goKeyring, secret: 40,
      reads: 10),
    ClientHabit(
      name: "aws-vault (99designs/keyring)", connections: 10, sessions: .forEachUse, isEncrypted: false, items: 10,
      label: "profile-#", attributes: ["profile": "profile-#"], secret: 2_000, collection: "awsvault",
      reads: 2),
    ClientHabit(
      name: "keyring (Rust)", sessions: .forEachUse, items: 5,
      label: "keyring-rs v3 secret for service '#', user 'alice'",
      attributes: ["application": "rust-keyring", "service": "#", "target": "default", "username": "alice"],
      reads: 10),
    ClientHabit(
      name: "keytar (Node.js)", items: 20, label: "app/account #",
      attributes: libsecret("org.freedesktop.Secret.Generic", ["account": "account #", "service": "app"]),
      secret: 4_000,
      reads: 3),
    ClientHabit(
      name: "Chromium, with each login as an item (until version 88)", items: 100, label: "https://site#.example/login",
      attributes: libsecret(
        "chrome_libsecret_password_schema",
        [
          "action_url": "https://site#.example/session?continue=\(String(repeating: "x", count: 300))",
          "application": "chrome-12345", "avatar_url": "", "date_created": "13290000000000000",
          "date_synced": "0", "display_name": "", "federation_url": "", "generation_upload_status": "0",
          "origin_url": "https://site#.example/login", "password_element": "password", "password_type": "0",
          "scheme": "0", "should_skip_zero_click": "1", "signon_realm": "https://site#.example/",
          "submit_element": "", "times_used": "3", "username_element": "login", "username_value": "alice",
        ])),
    ClientHabit(
      name: "Chromium's safe storage", label: "Chromium Safe Storage",
      attributes: libsecret("chrome_libsecret_os_crypt_password_v2", ["application": "chromium#"]), reads: 3),
    ClientHabit(
      name: "Electron's safeStorage, as in VS Code", label: "Code Safe Storage",
      attributes: libsecret("chrome_libsecret_os_crypt_password_v2", ["application": "code#"]), reads: 3),
    ClientHabit(
      name: "NetworkManager's applet", items: 30, label: "Network secret for Wi-Fi #/802-11-wireless-security/psk",
      attributes: libsecret(
        "org.freedesktop.NetworkManager.Connection",
        [
          "connection-uuid": "3a9e7d4c-0000-4000-8000-0000000000#", "setting-key": "psk",
          "setting-name": "802-11-wireless-security",
        ]), reads: 3),
    ClientHabit(
      name: "GNOME Online Accounts", items: 10, label: "GOA google credentials for identity account_#",
      attributes: libsecret("org.gnome.OnlineAccounts", ["goa-identity": "google:gen0:account_#"]), secret: 3_000,
      reads: 5),
    ClientHabit(
      name: "Evolution", items: 20, label: "Evolution Data Source “mail #”",
      attributes: libsecret(
        "org.gnome.Evolution.Data.Source", ["e-source-uid": "8f#@laptop", "eds-origin": "evolution-data-server"]),
      reads: 5),
    ClientHabit(
      name: "git-credential-libsecret", connections: 20, items: 10, label: "Git: https://forge#.example/",
      attributes: libsecret(
        "org.git.Password", ["protocol": "https", "server": "forge#.example", "user": "alice"]), secret: 93, reads: 2),
    ClientHabit(
      name: "docker-credential-secretservice", connections: 20, items: 10, label: "Registry credentials for #.example",
      attributes: libsecret(
        "io.docker.Credentials",
        [
          "docker_cli": "1", "label": "Docker Credentials", "server": "https://registry#.example/v1/",
          "username": "alice",
        ]), secret: 1_500, reads: 2),
    ClientHabit(
      name: "Nextcloud's client (qtkeychain)", items: 12, label: "alice_app-password:https://cloud.example/:#",
      attributes: libsecret(
        "org.qt.keychain",
        ["server": "Nextcloud", "type": "plaintext", "user": "alice_clientCertificatePEM:https://cloud.example/:#"]),
      secret: 2_048, reads: 3),
    ClientHabit(
      name: "Fractal (oo7)", items: 4, label: "Fractal: Matrix credentials for @alice:server#.example",
      attributes: libsecret(
        "org.gnome.Fractal",
        [
          "db-path": "/home/alice/.local/share/fractal/#", "device-id": "ABCDEFGHIJ",
          "homeserver": "https://server#.example/", "id": "#", "user": "@alice:server#.example", "version": "7",
        ]), secret: 1_200, reads: 3),
    ClientHabit(
      name: "GNOME Web", items: 100, label: "Password for alice in a form in https://site#.example",
      attributes: libsecret(
        "org.epiphany.FormPassword",
        [
          "form_password": "password", "form_username": "login", "id": "{0d5c-#}",
          "server_time_modified": "1700000000.0", "target_origin": "https://site#.example",
          "uri": "https://site#.example", "username": "alice",
        ])),
    ClientHabit(
      name: "Remmina", items: 50, label: "Remmina: server # - password",
      attributes: libsecret(
        "org.remmina.Password",
        ["filename": "/home/alice/.local/share/remmina/group_rdp_server_#.remmina", "key": "password"])),
    ClientHabit(
      name: "MSAL (Azure's and Teams' tokens)", label: "MSALCache",
      attributes: ["MsalClientID": "Microsoft.Developer#"],
      secret: 100_000, reads: 5),
    ClientHabit(
      name: "Seahorse", items: 100, label: "Password #", attributes: ["number": "#"], reading: .wholeCollection,
      reads: 2),
  ]
}
