internal import Moving
internal import Primitives
internal import Prompts
internal import SecretModel

/// An item that is the login of a site: an internet password that a browser has stored, or an imported password with the
/// address of its site.
struct SavedLogin: Sendable {
  let item: Item
  let site: SiteAddress
  let account: String
  let title: String

  /// `kSecAttrAuthenticationTypeHTMLForm`: tells the logins of browsers from those of git and docker.
  static let form = AttributeValue.text("form")

  /// `kSecAttrProtocol` has names of its own.
  private static let protocols: [SiteAddress.Scheme: String] = [.https: "htps", .http: "http"]

  /// Nil for every other item, and for a login of other sites. Of several addresses the one counts that says most about the
  /// page.
  init?(_ item: Item, for page: SiteAddress) {
    guard item.state == .living else { return nil }
    self.item = item
    account = item.attributes.text(.account)
    let label = item.attributes.text(.label)
    switch item.itemClass {
    case .internetPassword?:
      let scheme = Self.protocols.first { .text($0.value) == item.attributes[.networkProtocol] }?.key
      var port: UInt16?
      if case .number(let number)? = item.attributes[.port] {
        guard let known = OutsideNumber(number).number(in: 1...UInt16.max) else { return nil }
        port = known
      }
      guard let scheme, item.attributes[.authenticationType] == Self.form,
        let site = SiteAddress(scheme, server: item.attributes.text(.server), port: port), site.covers(page)
      else { return nil }
      self.site = site
      title = label.isEmpty ? site.host : label
    case .genericPassword?:
      let sites = item.attributes.addresses.compactMap { SiteAddress(saved: $0) }.filter { $0.covers(page) }
      guard let site = sites.max(by: { $0.host.utf8.count < $1.host.utf8.count }), !Self.isBeside(item, label) else {
        return nil
      }
      self.site = site
      title = label.isEmpty ? item.attributes.text(.service) : label
    default: return nil
    }
  }

  /// Whether it is another secret of an entry that has no password, such as its notes: the item is named after it, with #.
  private static func isBeside(_ item: Item, _ title: String) -> Bool {
    item.name?.description.contains("#") == true && !title.contains("#")
  }

  /// The number that the extension knows it by.
  var uuid: String { Hexadecimal.text(of: item.id.bytes) }

  /// The name of the item beside it that has the seed of its one-time codes: that of the entry, or SITE/ACCOUNT, and #totp.
  var nameOfSeed: String {
    let name =
      if item.itemClass == .genericPassword {
        item.name?.description ?? ""
      } else {
        account.isEmpty ? site.host : "\(site.host)/\(account)"
      }
    return name + OneTimeCode.itemMark
  }

  /// The attributes of a new item for a login.
  static func attributes(of site: SiteAddress, account: String) -> [AttributeName: AttributeValue] {
    [
      .server: .text(site.host), .networkProtocol: .text(protocols[site.scheme] ?? ""), .authenticationType: form,
      .port: .number(Int64(site.port)), .account: .text(account), .label: .text(site.host),
      .accessGroup: .text(AccessGroup.commandLine),
    ]
  }
}

extension [AttributeName: AttributeValue] {
  /// Empty where the attribute is missing, or no text.
  fileprivate func text(_ name: AttributeName) -> String { if case .text(let text)? = self[name] { text } else { "" } }
}
