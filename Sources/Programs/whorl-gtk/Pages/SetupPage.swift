internal import CAdwaita
internal import Primitives
internal import Prompts
internal import Settings
internal import Whorl

/// What Whorl can do on this computer, step by step as `whorl setup` offers it: what is on and how it is taken back, and
/// what can be turned on.
final class SetupPage: WindowPage {
  private let interface = Interface(PackageResources.setup_ui)
  private let store: ShownStore
  private let goTo: (PageName) -> Void
  private let groups: [String: RowGroup]
  private var isLooking = false
  /// How long a look may take before the page says so. Where a part of Whorl ends again and again, it may never end.
  private static let seconds = 15
  private var overdue: MainLoop.Timer?
  /// The number of the last look.
  private var looks = 0
  private var hasLooked = false
  private var isChanging = false

  /// - Parameters:
  ///   - goTo: shows another page.
  ///   - leave: shows how to leave Whorl.
  init(
    of store: ShownStore, goTo: @escaping (PageName) -> Void, leave: @escaping () -> Void, goBack: @escaping () -> Void
  ) {
    (self.store, self.goTo) = (store, goTo)
    groups = ["open", "on", "other"].reduce(into: [:]) { [interface] groups, name in
      groups[name] = RowGroup(interface[name])
    }
    interface["back-to-pages"].on("clicked") { goBack() }
    for button in ["look", "look-now"] { interface[button].on("clicked") { [weak self] in self?.look() } }
    interface["leave"].on("clicked") { leave() }
    interface["leave"].setSpokenName(Text.of("Show how to leave Whorl"))
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  /// Looks once, and after each change: a look claims the reader for a moment, which would be in the way of a touch.
  func refresh() { if !hasLooked { look() } }

  private func look() {
    guard !isLooking, let opened = store.store else { return }
    (isLooking, hasLooked) = (true, true)
    interface["looking"].isVisible = true
    interface["overdue"].isVisible = false
    interface["look"].isSensitive = false
    looks += 1
    let number = looks
    overdue = MainLoop.after(seconds: Self.seconds) { [weak self] in self?.endLook(isOverdue: true) }
    let place = store.place
    MainLoop.begin {
      do throws(Failure) {
        let findings = try await VaultWork.runAside { () async throws(Failure) in
          try await SetupSurvey(WindowSettings(place, opened), onGap: { _ in }).findings()
        }
        // A later look has its own findings.
        if looks == number { show(findings) }
      } catch {
        store.say(error)
      }
      guard looks == number else { return }
      self.overdue?.cancel()
      endLook(isOverdue: false)
    }
  }

  private func endLook(isOverdue: Bool) {
    (isLooking, overdue) = (false, nil)
    interface["looking"].isVisible = false
    interface["overdue"].isVisible = isOverdue
    interface["look"].isSensitive = true
  }

  // MARK: What is shown

  private func show(_ findings: [Finding]) {
    let shown = findings.filter { $0.step.map(Self.isShown) == true }
    groups["open"]?.show(shown.filter { $0.state == .open }.map(row))
    groups["on"]?.show(shown.filter(\.isSetUp).map(row))
    groups["other"]?.show(shown.filter { $0.state != .open && !$0.isSetUp }.map(row))
  }

  /// The store and its passcode have pages of their own.
  private static func isShown(_ step: SetupStep) -> Bool { ![.store, .passcode].contains(step) }

  private func row(_ finding: Finding) -> RowGroup.Row {
    let title = finding.step?.title ?? finding.subject
    let words = [finding.words, finding.state == .good ? nil : finding.advice].compactMap { $0 }
    let subtitle = words.map { "\(Visible.text(Self.sentence($0)))." }.joined(separator: " ")
    var row = RowGroup.Row(title: title, subtitle: subtitle)
    if finding.state == .faulty {
      row.mark = ("dialog-warning-symbolic", Text.of("Needs attention"))
    } else if finding.isSetUp {
      row.mark = ("object-select-symbolic", Text.of("In order"))
    }
    row.buttons = [button(finding)].compactMap { $0 }
    return row
  }

  private func button(_ finding: Finding) -> RowGroup.Button? {
    guard let step = finding.step, let title = finding.step?.title else { return nil }
    if let page = Self.page(of: step) {
      guard finding.state != .later else { return nil }
      return .init(label: Text.of("Show"), spoken: Text.of("Show {what}", ["what": title])) {
        [weak self] in self?.goTo(page)
      }
    }
    if finding.state == .open, !finding.offers.isEmpty {
      return .init(label: Text.of("Turn On"), spoken: Text.of("Turn on: {what}", ["what": title])) {
        [weak self] in self?.turnOn(step, finding.offers)
      }
    }
    guard finding.isSetUp, finding.wayBack != nil else { return nil }
    return .init(label: Text.of("Turn Off"), spoken: Text.of("Turn off: {what}", ["what": title])) {
      [weak self] in self?.turnOff(step, finding)
    }
  }

  /// The page that changes it.
  private static func page(of step: SetupStep) -> PageName? {
    switch step {
    case .fingers: .fingers
    case .sync: .computers
    case .store, .passcode: .protection
    default: nil
    }
  }

  private static func sentence(_ words: String) -> String { "\(words.prefix(1).uppercased())\(words.dropFirst())" }

  // MARK: Changes

  /// Asks each question, and carries out what the person agrees to, in order.
  private func turnOn(_ step: SetupStep, _ offers: [SetupOffer]) {
    change(step) { [self] change throws(Failure) in
      for offer in offers {
        guard await Question.isAgreed(step.title, offer.question, over: store.window) else { continue }
        // What other programs have is copied before Whorl takes over.
        try await change.turnOn(step, by: offer.command, isLast: offer.command == offers.last?.command)
      }
    }
  }

  private func turnOff(_ step: SetupStep, _ finding: Finding) {
    change(step) { [self] change throws(Failure) in
      let question = Text.of(
        "It becomes as it was before: “{command}” does the same in a terminal.",
        ["command": Visible.text(finding.wayBack ?? "")])
      guard await Question.isAgreed(Text.of("Turn It Off?"), question, over: store.window) else { return }
      try await change.turnOff(step, by: finding)
    }
  }

  private func change(_ step: SetupStep, _ body: @escaping (SetupChange) async throws(Failure) -> Void) {
    guard !isChanging, let opened = store.store else { return }
    isChanging = true
    MainLoop.begin {
      do throws(Failure) {
        let change = SetupChange(try WindowSettings(store.place, opened), store, at: store.place)
        do throws(Failure) {
          try await body(change)
          let report = change.dialogue.report
          if !report.isEmpty {
            Question.tell(step.title, report.joined(separator: "\n"), over: store.window)
          }
        } catch {
          let report = change.dialogue.report + [error.shown]
          if error.cause?.isCancel != true, error.what != Failure.cancelled.what {
            Question.tell(step.title, report.joined(separator: "\n"), over: store.window)
          }
        }
        await change.end()
      } catch {
        store.say(error)
      }
      isChanging = false
      look()
    }
  }
}
