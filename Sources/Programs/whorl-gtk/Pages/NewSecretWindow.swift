internal import CAdwaita
internal import KeySchemes
internal import PromptTexts
internal import SSHKeys
internal import SecretList
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// A window in which a person types a new secret, or has a password or a key for SSH made.
final class NewSecretWindow {
  private static let rules: [AccessControl.Constraint] = [.presence, .anyFinger, .currentSet, .passcode, .none]

  private let interface = Interface(PackageResources.new_ui)
  private let kind: SecretEntry.Kind
  private let shown: ShownStore

  init(_ kind: SecretEntry.Kind, of shown: ShownStore) { (self.kind, self.shown) = (kind, shown) }

  func present() {
    let own = interface["window"]
    own.set("transient-for", shown.window)
    if kind == .key {
      own.set("title", Text.of("New SSH Key"))
      interface["name"].set("title", Text.of("Name, such as this computer's"))
      interface["account"].set("title", Text.of("Only for these hosts, with commas (may be empty)"))
      interface["secret"].isVisible = false
    }
    let fields = kind == .key ? [interface["name"]] : [interface["name"], interface["secret"]]
    for field in fields {
      field.on("changed") { [self] in interface["save"].isSensitive = fields.allSatisfy { !$0.isEmpty } }
    }
    for row in fields + [interface["account"]] { row.on("entry-activated") { [self] in save() } }
    interface["generate"].on("clicked") { [self] in
      interface["secret"].show(PasswordGenerator().password(), as: .entry)
    }
    interface["save"].on("clicked") { [self] in save() }
    interface["cancel"].on("clicked") { [self] in close() }
    gtk_window_present(own.typed())
  }

  private func close() { gtk_window_destroy(interface["window"].typed()) }

  private func save() {
    guard interface["save"].isSensitive else { return }
    do throws(VaultError) {
      let request = kind == .key ? try keyRequest() : try secretRequest()
      interface["save"].isSensitive = false
      Task {
        do throws(VaultError) {
          try await shown.call(request)
          close()
          shown.reload()
        } catch {
          show(error)
          interface["save"].isSensitive = true
        }
      }
    } catch {
      show(error)
    }
  }

  private typealias Request = SentVaultRequest<Void>

  private var access: AccessControl {
    AccessControl(Self.rules[min(interface["rule"].number("selected"), Self.rules.count - 1)])
  }

  private func secretRequest() throws(VaultError) -> Request {
    let name = try ItemName(service: interface["name"].text, account: interface["account"].text)
    let item = NewItem(named: name, access: access)
    let secret = SharedSecret(interface["secret"].secret)
    return { service throws(VaultError) in
      _ = try await service.add(item, secret: secret.copy(), replacing: false, .nobody)
    }
  }

  private func keyRequest() throws(VaultError) -> Request {
    let name = interface["name"].text
    // The name becomes a part of single lines of text, such as a line of `authorized_keys`.
    guard name == Visible.text(name) else { throw .invalidRequest("the name of a key has no control characters") }
    guard !shown.list.entries.contains(where: { SSHKey($0.item)?.name == name }) else { throw .duplicateItem }
    let words = interface["account"].text.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
    let hosts = words.compactMap { SSHHostRule($0) }
    guard hosts.count == words.count else { throw .invalidRequest("a host is [user@]name or from>[user@]name") }
    let item = SSHKey.item(named: name, access: access, grantedMinutes: 0, hosts: hosts, end: nil)
    return { service throws(VaultError) in _ = try await service.addKey(item, from: .generated(.ed25519)) }
  }

  private func show(_ error: VaultError) {
    interface["problem"].set("label", error.sentence)
    interface["problem"].isVisible = true
  }
}
