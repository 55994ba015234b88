internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel

/// The one-time code of an item, which the vault makes after a touch, and which is shown for as long as it is valid.
final class CodeRow {
  private static let hidden = "••••••"
  /// How long a code stays in the clipboard.
  private static let seconds = 30

  private let interface: Interface
  private let shown: ShownStore
  /// The item that holds the seed.
  private var seed: SecretEntry?
  /// When the code that is shown ends. This clock also counts while the machine sleeps.
  private var end: ContinuousClock.Instant?
  private var counting: MainLoop.Timer?

  init(_ interface: Interface, _ shown: ShownStore) {
    (self.interface, self.shown) = (interface, shown)
    interface["show-code"].on("clicked") { [weak self] in self?.toggle() }
    interface["copy-code"].on("clicked") { [weak self] in self?.copy() }
  }

  /// Offers the codes of another entry, where it has any.
  func show(codesOf entry: SecretEntry?) {
    hide()
    seed = entry.flatMap { shown.list.seed(of: $0) }
    interface["code-row"].isVisible = seed != nil
  }

  private func toggle() {
    if end != nil { return hide() }
    make { [self] code in
      interface["code"].show(code.digits.bytes, as: .label)
      interface["code"].set("selectable", true)
      setButton("view-conceal-symbolic", Text.of("Hide the Code"))
      counting?.cancel()
      end = .now + .seconds(code.secondsLeft)
      count()
    }
  }

  private func copy() {
    make { [self] code in shown.copy(code.digits.bytes, forSeconds: Self.seconds) }
  }

  /// Says how long the code is still valid, each second.
  private func count() {
    counting = nil
    guard let end, case let left = end - .now, left > .zero else { return hide() }
    interface["code-row"].set(
      "subtitle", Text.of("Seconds left: {seconds}", ["seconds": "\(left.components.seconds + 1)"]))
    counting = MainLoop.after(seconds: 1) { [weak self] in self?.count() }
  }

  private func hide() {
    counting?.cancel()
    (counting, end) = (nil, nil)
    interface["code"].set("label", Self.hidden)
    interface["code"].set("selectable", false)
    interface["code-row"].set("subtitle", "")
    setButton("view-reveal-symbolic", Text.of("Show the Code"))
  }

  private func setButton(_ icon: String, _ name: String) {
    interface["show-code"].set("icon-name", icon)
    interface["show-code"].set("tooltip-text", name)
    interface["show-code"].setSpokenName(name)
  }

  /// Has the vault make the code of this moment, after the prompt, and passes it on if the page still shows its item.
  private func make(_ use: @escaping (OneTimeCode) -> Void) {
    guard let seed else { return }
    setBusy(true)
    MainLoop.begin {
      do throws(VaultError) {
        let code = try await shown.ask(for: Text.of("show a one-time code")) { service, asking throws(VaultError) in
          let answer = try await service.useKey(seed.id, .oneTimeCode, asking)
          guard let code = OneTimeCode(answer: answer) else {
            throw .versionMismatch("the vault has answered in a way that is not understood")
          }
          return code
        }
        if self.seed == seed { use(code) }
      } catch {
        shown.say(error)
      }
      setBusy(false)
    }
  }

  private func setBusy(_ isBusy: Bool) {
    interface["show-code"].isSensitive = !isBusy
    interface["copy-code"].isSensitive = !isBusy
  }
}
