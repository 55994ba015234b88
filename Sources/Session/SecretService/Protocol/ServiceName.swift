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
