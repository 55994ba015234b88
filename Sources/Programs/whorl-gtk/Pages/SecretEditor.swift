internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Whorl

/// A window in which a person types a new secret, or has a password or a key for SSH made, or changes a secret.
final class SecretEditor {
  private static let rules: [AccessControl.Constraint] = [.presence, .anyFinger, .currentSet, .passcode, .none]

  private let interface = Interface(PackageResources.editor_ui)
  private let kind: SecretEntry.Kind
  private let edited: SecretEntry?
  private let shown: ShownStore

  /// - Parameter edited: the secret to change; nil for a new one.
  init(_ kind: SecretEntry.Kind, editing edited: SecretEntry? = nil, of shown: ShownStore) {
    (self.kind, self.edited, self.shown) = (kind, edited, shown)
  }

  func present() {
    if kind == .key {
      interface["window"].set("title", Text.of("New SSH Key"))
      interface["name"].set("title", Text.of("Name, such as this computer's"))
      interface["account"].set("title", Text.of("Only for these hosts, with commas (may be empty)"))
      interface["secret"].isVisible = false
      interface["length-row"].isVisible = false
    }
    let length = interface["length"]
    gtk_spin_button_set_range(
      length.opaque, Double(PasswordGenerator.lengths.lowerBound), Double(PasswordGenerator.lengths.upperBound))
    gtk_spin_button_set_value(length.opaque, Double(PasswordGenerator.usualLength))
    if let edited { fill(edited) }
    let isNamed = edited?.isOfCommandLine ?? true
    let fields = (isNamed ? ["name"] : []) + (kind == .key || edited != nil ? [] : ["secret"])
    for field in fields {
      interface[field].on("changed") { [self] in
        interface["save"].isSensitive = fields.allSatisfy { !interface[$0].isEmpty }
      }
    }
    for row in [interface["name"], interface["secret"], interface["account"]] {
      row.on("entry-activated") { [self] in save() }
    }
    interface["generate"].on("clicked") { [self] in
      gtk_spin_button_update(length.opaque)
      let length = Int(gtk_spin_button_get_value_as_int(length.opaque))
      interface["secret"].show(PasswordGenerator(length: length).password(), as: .entry)
    }
    interface["save"].on("clicked") { [self] in save() }
    interface.present(over: shown.window)
  }

  private func fill(_ edited: SecretEntry) {
    interface["window"].set("title", Text.of("Edit Secret"))
    interface["secret"].set("title", Text.of("New secret (empty: it stays)"))
    interface["name"].text = edited.item.name?.service ?? ""
    interface["account"].text = edited.item.name?.account ?? ""
    // Other programs find their items by these.
    for row in ["name", "account"] { interface[row].isSensitive = edited.isOfCommandLine }
    let rule = edited.item.access.constraint.flatMap { Self.rules.firstIndex(of: $0) }
    interface["rule-group"].isVisible = rule != nil
    interface["rule"].set("selected", rule ?? 0)
    interface["save"].isSensitive = true
  }

  private func save() {
    guard interface["save"].isSensitive else { return }
    if let edited { return change(edited) }
    do throws(VaultError) {
      let request = kind == .key ? try keyRequest() : try secretRequest()
      interface["save"].isSensitive = false
      MainLoop.begin {
        do throws(VaultError) {
          try await shown.call(request)
          interface.close()
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

  private func change(_ edited: SecretEntry) {
    do throws(VaultError) {
      var change = ItemChange()
      let name =
        edited.isOfCommandLine
        ? try ItemName(service: interface["name"].text, account: interface["account"].text) : nil
      if let name, name != edited.item.name {
        change.attributes.updateValue(.text(name.service), forKey: .service)
        change.attributes.updateValue(name.account.isEmpty ? nil : .text(name.account), forKey: .account)
      }
      if let rule = edited.item.access.constraint, Self.rules.contains(rule), access.constraint != rule {
        change.access = AccessControl(
          Self.rules[interface["rule"].number("selected")],
          applicationPassword: edited.item.access.applicationPassword)
      }
      let secret = interface["secret"].isEmpty ? nil : SharedSecret(interface["secret"].secret)
      guard secret != nil || change != ItemChange() else { return interface.close() }
      let changed = change
      interface["save"].isSensitive = false
      let reason = Text.of("change “{name}”", ["name": PromptLabel.text(edited.title)])
      MainLoop.begin {
        do throws(VaultError) {
          try await shown.ask(for: reason) { service, asking throws(VaultError) in
            _ = try await service.update(.ids([edited.id]), changed, secret: secret?.copy(), asking)
          }
          interface.close()
          shown.reload()
        } catch {
          if !error.isCancel { show(error) }
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
    guard name == Visible.text(name) else {
      throw .invalidRequest(Text.of("the name of a key has no control characters"))
    }
    guard !shown.list.entries.contains(where: { SSHKey($0.item)?.name == name }) else { throw .duplicateItem }
    let words = interface["account"].text.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init)
    let hosts = words.compactMap { SSHHostRule($0) }
    guard hosts.count == words.count else {
      throw .invalidRequest(Text.of("a host is [user@]name or from>[user@]name"))
    }
    let item = SSHKey.item(named: name, access: access, grantedMinutes: 0, hosts: hosts, end: nil)
    return { service throws(VaultError) in _ = try await service.addKey(item, from: .generated(.ed25519)) }
  }

  private func show(_ error: VaultError) {
    guard !interface.isClosed else { return shown.say(error) }
    interface["problem"].set("label", error.sentence)
    interface["problem"].isVisible = true
  }
}

extension SecretEntry {
  /// Whether the command line keeps it, and not a program that finds it by its name.
  fileprivate var isOfCommandLine: Bool { item.attributes[.accessGroup] == .text(AccessGroup.commandLine) }
}
