internal import CAdwaita
internal import SecretList
internal import SecretModel
internal import SecureMemory
internal import Whorl

/// A window in which a person types a new secret, or has a password made.
final class NewSecretWindow {
  private static let rules: [AccessControl.Constraint] = [.presence, .anyFinger, .currentSet, .passcode, .none]

  private let interface = Interface(PackageResources.new_ui)
  private let shown: ShownStore

  init(of shown: ShownStore) { self.shown = shown }

  func present() {
    let own = interface["window"]
    own.set("transient-for", shown.window)
    let fields = [interface["name"], interface["secret"]]
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
    guard interface["save"].isSensitive, let store = shown.store else { return }
    let rule = Self.rules[min(interface["rule"].number("selected"), Self.rules.count - 1)]
    let item: NewItem
    do throws(VaultError) {
      let name = try ItemName(service: interface["name"].text, account: interface["account"].text)
      item = NewItem(named: name, access: AccessControl(rule))
    } catch {
      return show(error)
    }
    let secret = SharedSecret(interface["secret"].secret)
    interface["save"].isSensitive = false
    Task {
      do throws(VaultError) {
        _ = try await VaultWork.run { () async throws(VaultError) in
          try await store.add(item, secret: secret.copy())
        }
        close()
        shown.reload()
      } catch {
        show(error)
        interface["save"].isSensitive = true
      }
    }
  }

  private func show(_ error: VaultError) {
    interface["problem"].set("label", error.sentence)
    interface["problem"].isVisible = true
  }
}
