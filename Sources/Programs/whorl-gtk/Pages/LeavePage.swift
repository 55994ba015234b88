internal import CAdwaita
internal import Moving
internal import Primitives
internal import Prompts
internal import Settings
internal import Whorl

/// Leaving Whorl: what goes back to whom, and what exists nowhere else, is shown before anything is touched. It goes back step
/// by step, and in the end stands where everything is. What goes back, and in which order, is that of `whorl setup --undo`.
final class LeavePage {
  private let interface = Interface(PackageResources.leave_ui)
  private let shown: ShownStore
  private let groups: [String: RowGroup]
  private let buttons = ["begin", "again", "keep", "remove"]
  private var plan: LeavePlan?
  /// What stands about each step.
  private var rows: [SetupStep: RowGroup.Row] = [:]
  private var isWorking = false

  /// - Parameter leave: the person goes back to the store, or is done.
  init(of shown: ShownStore, leave: @escaping () -> Void) {
    self.shown = shown
    groups = ["steps", "only", "staying"].reduce(into: [:]) { [interface] groups, name in
      groups[name] = RowGroup(interface[name])
    }
    for name in ["back", "keep"] { interface[name].on("clicked") { leave() } }
    interface["begin"].on("clicked") { [self] in takeBack() }
    interface["again"].on("clicked") { [self] in look() }
    interface["remove"].on("clicked") { [self] in remove() }
  }

  var root: Widget { interface["page"] }

  /// Looks what there is, and shows what would go back.
  func look() {
    guard !isWorking else { return }
    work(Text.of("Looking …"))
    for group in groups.values { group.show([]) }
    let (place, shown) = (shown.place, shown)
    MainLoop.begin {
      do throws(Failure) {
        let plan = try await VaultWork.runAside { () async throws(Failure) in try await LeavePlan(place, shown) }
        self.plan = plan
        show(plan)
      } catch {
        rest(Text.of("Not Possible Now"), error.shown, offering: ["again"])
      }
    }
  }

  private func show(_ plan: LeavePlan) {
    let steps = plan.undo.steps
    rows = steps.reduce(into: [:]) { rows, step in
      let words = [step.step.wayBack, Self.sentence(step.finding.words)].compactMap(\.self)
      rows[step.step] = RowGroup.Row(title: step.step.title, subtitle: words.joined(separator: " "))
    }
    showSteps(Text.of("Goes Back"))
    showOnlyCopies(plan.only)
    groups["staying"]?.show(
      plan.undo.findings.compactMap { finding in
        guard finding.isSetUp, let command = finding.administratorsUndo else { return nil }
        return RowGroup.Row(
          title: finding.step?.title ?? finding.subject,
          subtitle: Text.of(
            "An administrator takes it back: {command}", ["command": Visible.text(ShellLine.text(command))]))
      })
    guard !steps.isEmpty else {
      return rest(
        Text.of("Nothing Is Turned On"), Text.of("Only your secrets are in Whorl."),
        offering: plan.only == nil ? [] : ["keep", "remove"])
    }
    rest(
      Text.of("Nothing Is Changed Yet"),
      Text.of("This goes back one after the other, and deletes nothing. Then you choose what becomes of your secrets."),
      offering: ["begin"])
  }

  private func showSteps(_ title: String) {
    interface["steps"].set("title", title)
    groups["steps"]?.show((plan?.undo.steps ?? []).compactMap { rows[$0.step] })
  }

  private func showOnlyCopies(_ only: OnlyCopies?) {
    groups["only"]?.show(
      (only?.copies ?? []).map {
        RowGroup.Row(title: Visible.text($0.name), subtitle: $0.note.map(Self.sentence) ?? "")
      })
  }

  private static func sentence(_ words: String) -> String {
    let words = Visible.text(words)
    return "\(words.prefix(1).uppercased())\(words.dropFirst())."
  }

  // MARK: Going back

  private func takeBack() {
    guard !isWorking, let plan else { return }
    work(Text.of("Going back …"))
    let (place, shown) = (shown.place, shown)
    MainLoop.begin {
      do throws(Failure) {
        let outcome = try await VaultWork.runAside { () async throws(Failure) in
          try await plan.carryOut(place, shown) { step, state in await self.mark(step, state) }
        }
        show(outcome)
      } catch {
        rest(Text.of("Not Everything Is Back"), error.shown, offering: ["again"])
      }
    }
  }

  private func mark(_ step: SetupStep, _ state: LeavePlan.State) {
    let (icon, spoken, words) =
      switch state {
      case .begun: ("media-playback-start-symbolic", Text.of("Going back"), step.wayBack ?? "")
      case .done(let words): ("object-select-symbolic", Text.of("Is back"), words)
      case .failed(let words): ("dialog-warning-symbolic", Text.of("Is not back"), words)
      case .waiting(let needed):
        (
          "dialog-warning-symbolic", Text.of("Is not back"),
          Text.of("Not before this is back: {what}.", ["what": needed.title])
        )
      }
    rows[step]?.mark = (icon, spoken)
    rows[step]?.subtitle = words
    showSteps(Text.of("Goes Back"))
  }

  private func show(_ outcome: LeavePlan.Outcome) {
    switch outcome {
    case .notAll:
      rest(
        Text.of("Not Everything Is Back"), Text.of("Put right what stands below, and look again. Your secrets stay."),
        offering: ["again"])
    case .all(let now, let only):
      for finding in now {
        guard let step = finding.step, let row = rows[step] else { continue }
        rows[step]?.subtitle = [row.subtitle, Self.sentence(finding.words)].filter { !$0.isEmpty }
          .joined(separator: " ")
      }
      showSteps(Text.of("Where It Is Now"))
      showOnlyCopies(only)
      rest(
        Text.of("Everything Is Back"),
        Text.of("Your secrets are still in Whorl. Keep them there, or remove them for good."),
        offering: ["keep", "remove"])
    }
  }

  // MARK: The store

  private func remove() {
    guard !isWorking, let plan else { return }
    work(Text.of("Looking for what exists nowhere else …"))
    let shown = shown
    MainLoop.begin {
      do throws(Failure) {
        let contents = try await VaultWork.runAside { () async throws(Failure) in try await plan.removal.contents() }
        showOnlyCopies(contents.only)
        try await plan.dialogue.agree(
          toLose: contents.only, Text.of("These are in Whorl, and nowhere else that it knows of:"))
        if contents.only.isEmpty { try await requireRemovalOfCopies() }
        await shown.close()
        _ = try await VaultWork.runAside { () async throws(Failure) in
          try await plan.removal.remove(with: contents) { command throws(Failure) in
            try SetupChange.runAsAdministrator(command)
            return true
          }
        }
        showOnlyCopies(nil)
        rest(
          Text.of("You Have Left Whorl"),
          Text.of("Its store is removed, with everything in it. A finger in the desktop's settings stays there."),
          offering: [])
      } catch {
        rest(
          Text.of("Your Secrets Stay"), error.isCancel ? Text.of("Nothing was removed.") : error.shown,
          offering: ["keep", "remove"])
      }
    }
  }

  private func requireRemovalOfCopies() async throws(Failure) {
    let isAgreed = await Question.isAgreed(
      Text.of("Remove Your Secrets For Good?"), Text.of("Everything in Whorl was seen elsewhere."), over: shown.window)
    guard isAgreed else { throw .cancelled }
  }

  // MARK: What is said and offered

  private func work(_ words: String) {
    isWorking = true
    interface["working"].set("label", words)
    interface["working-group"].isVisible = true
    interface["summary"].isVisible = false
    for name in buttons { interface[name].isVisible = false }
    interface["back"].isSensitive = false
  }

  private func rest(_ title: String, _ words: String, offering: [String]) {
    isWorking = false
    interface["working-group"].isVisible = false
    interface["summary"].set("title", title)
    interface["summary"].set("description", words)
    interface["summary"].isVisible = true
    for name in buttons { interface[name].isVisible = offering.contains(name) }
    interface["back"].isSensitive = true
    interface[offering.first ?? "back"].focus()
  }
}

/// What goes back when the person leaves, and what exists nowhere else.
private nonisolated struct LeavePlan: Sendable {
  /// What becomes of a step.
  enum State: Sendable {
    case begun
    /// It is back, with what was said meanwhile.
    case done(String)
    case failed(String)
    case waiting(SetupStep)
  }

  enum Outcome: Sendable {
    case notAll
    /// Everything is back: what a new look has found, and what is only in the store. Nil without a store.
    case all(now: [Finding], only: OnlyCopies?)
  }

  let undo: SetupUndo
  let removal: StoreRemoval
  let dialogue: WindowDialogue
  let only: OnlyCopies?
  private let settings: WindowSettings

  /// Looks, and touches nothing.
  init(_ place: ShownStore.Place, _ shown: ShownStore) async throws(Failure) {
    settings = try WindowSettings(place)
    dialogue = WindowDialogue(settings, shown)
    undo = try await SetupUndo(settings, onGap: { _ in })
    removal = try await StoreRemoval(dialogue)
    only = try await removal.onlyCopiesBefore()
    await settings.close()
  }

  func carryOut(
    _ place: ShownStore.Place, _ shown: ShownStore, _ mark: @Sendable (SetupStep, State) async -> Void
  ) async throws(Failure) -> Outcome {
    var undo = undo
    let failed = try await undo.run { step throws(Failure) in
      await mark(step.step, .begun)
      let change = SetupChange(try WindowSettings(place), shown, at: place)
      do throws(Failure) {
        try await change.turnOff(step.step, by: step.finding)
        await change.end()
        await mark(step.step, .done(change.dialogue.report.joined(separator: " ")))
        return true
      } catch {
        await change.end()
        await mark(step.step, .failed((change.dialogue.report + [error.shown]).joined(separator: " ")))
        return false
      }
    } tell: { step, outcome in
      if case .waiting(let needed) = outcome { await mark(step.step, .waiting(needed)) }
    }
    guard failed.isEmpty else { return .notAll }
    let now = try await SetupSurvey(settings, onGap: { _ in }).findings()
    let only = try await removal.onlyCopiesBefore()
    await settings.close()
    return .all(now: now, only: only)
  }
}

extension Failure {
  /// Whether the person has ended it, and need not be told that.
  fileprivate var isCancel: Bool { cause?.isCancel == true || what == Failure.cancelled.what }
}
