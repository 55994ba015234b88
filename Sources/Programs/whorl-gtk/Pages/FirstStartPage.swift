internal import CAdwaita
internal import Primitives
internal import SecretModel
internal import Synchronization
internal import Whorl

/// The first start: a passcode, and the recovery key on paper. The store is made when the person has shown that the key was
/// written down; closing the window before makes none.
final class FirstStartPage {
  private let interface = Interface(PackageResources.first_start_ui)
  private let make: StoreMaker
  private let recovery: RecoveryKeyCheck

  /// Makes a store with a passcode, and calls the closure with its recovery key before it is kept.
  typealias StoreMaker =
    @Sendable (
      _ passcode: SharedSecret, _ allowsGuessable: Bool, _ show: @escaping @Sendable (SharedSecret) async throws -> Void
    ) async throws -> SecretStore

  /// - Parameter finished: called when the person goes on with the new store.
  init(make: @escaping StoreMaker, finished: @escaping () -> Void) {
    self.make = make
    recovery = RecoveryKeyCheck(in: interface)
    let steps = interface["steps"]
    interface["begin"].on("clicked") { [self] in
      steps.show("passcode")
      interface["passcode"].focus()
    }
    for entry in [interface["passcode"], interface["again"]] {
      entry.on("changed") { [self] in compare() }
      entry.on("entry-activated") { [self] in if interface["choose"].isSensitive { choose() } }
    }
    interface["insist"].on("toggled") { [self] in compare() }
    interface["choose"].on("clicked") { [self] in choose() }
    interface["done"].on("clicked") { finished() }
  }

  var root: Widget { interface["page"] }

  /// The first step is shown: Enter begins.
  func focus() { interface["begin"].focus() }

  /// The window closes: no store is made.
  func leave() { recovery.leave() }

  // MARK: The passcode

  private func compare() {
    let first = interface["passcode"].secret
    let again = interface["again"].secret
    let isEqual = first.constantTimeEquals(again)
    interface["choose"].isSensitive = !first.isEmpty && isEqual
    if !again.isEmpty, again.count >= first.count, !isEqual {
      complain(Text.of("The two are not the same."))
    } else if !interface["insist"].isVisible {
      interface["passcode-problem"].isVisible = false
    }
  }

  private func complain(_ problem: String) {
    interface["passcode-problem"].set("label", problem)
    interface["passcode-problem"].isVisible = true
  }

  private func choose() {
    let passcode = SharedSecret(interface["passcode"].secret)
    let insists = interface["insist"].isVisible && interface["insist"].bool("active")
    interface["choose"].isSensitive = false
    MainLoop.begin {
      do {
        let make = make
        _ = try await make(passcode, insists) { key in
          guard await self.isWritten(key) else { throw VaultError.cancelled }
        }
        interface["passcode"].text = ""
        interface["again"].text = ""
        interface["steps"].show("done")
        interface["done"].focus()
      } catch let error as VaultError {
        interface["steps"].show("passcode")
        interface["choose"].isSensitive = true
        switch error {
        case .cancelled: break
        case .guessablePasscode:
          complain(Text.of("Somebody with a copy of your disk finds this passcode within a day. Take a longer one."))
          interface["insist"].isVisible = true
        default: complain(error.sentence)
        }
      } catch {
        complain("\(error)")
      }
    }
  }

  // MARK: The recovery key

  /// Shows the key, and waits until the person has typed its last part.
  private func isWritten(_ key: SharedSecret) async -> Bool {
    interface["steps"].show("recovery")
    return await recovery.isWritten(key)
  }
}
