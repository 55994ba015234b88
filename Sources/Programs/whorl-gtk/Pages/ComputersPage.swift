internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// The computers that share secrets: who they are, who asks to be let in, and what a person has to decide.
final class ComputersPage: WindowPage {
  private let interface = Interface(PackageResources.computers_ui)
  private let store: ShownStore
  private let groups: [String: RowGroup]
  private var isLooking = false
  /// How often another computer's answer is looked for, while one is waited for.
  private static let seconds = 2
  private var waiting: MainLoop.Timer?
  private var standing: SyncStatus.Standing?
  /// Computers whose request was answered here. Their words are known when they have answered in turn.
  private var answered: Set<MemberID> = []
  /// What the two buttons below the words do.
  private var answer: (same: () -> Void, differ: () -> Void)?

  init(of store: ShownStore, goBack: @escaping () -> Void) {
    self.store = store
    let names = ["changes", "asking", "versions", "waiting", "members"]
    groups = names.reduce(into: [:]) { [interface] groups, name in groups[name] = RowGroup(interface[name]) }
    interface["back-to-pages"].on("clicked") { goBack() }
    interface["sync"].on("clicked") { [weak self] in self?.exchange() }
    interface["begin"].on("clicked") { [weak self] in self?.enter(joining: false) }
    interface["join"].on("clicked") { [weak self] in self?.enter(joining: true) }
    interface["same"].on("clicked") { [weak self] in self?.answer?.same() }
    interface["differ"].on("clicked") { [weak self] in self?.answer?.differ() }
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  func refresh() {
    guard !isLooking else { return }
    isLooking = true
    MainLoop.begin {
      do throws(VaultError) {
        show(try await store.call { service throws(VaultError) in try await service.sync.status() })
      } catch {
        store.say(error)
      }
      isLooking = false
    }
  }

  // MARK: What is shown

  private func show(_ status: SyncStatus) {
    let hasJoined = standing == .asking && status.standing == .member
    standing = status.standing
    if hasJoined { welcome(status) }
    wait(for: status)
    let isSharing = [.member, .asking].contains(status.standing)
    interface["sync"].isVisible = isSharing
    interface["states"].show(isSharing ? "circle" : "alone")
    guard isSharing else { return }
    showWords(status)
    groups["changes"]?.show(changes(status))
    groups["asking"]?.show(
      status.candidates.filter(\.words.isEmpty).map { candidate in
        RowGroup.Row(
          title: Self.name(candidate),
          buttons: [
            .init(label: Text.of("Show Words"), spoken: Text.of("Show the six words")) { [weak self] in
              self?.answered.insert(candidate.id)
              self?.change(.answer(candidate.id))
            }
          ])
      })
    groups["versions"]?.show(status.kept.map(row))
    groups["waiting"]?.show(
      status.waiting.map { RowGroup.Row(title: Visible.text($0.item.description), subtitle: Self.words($0.reason)) })
    groups["members"]?.show(status.standing == .asking ? [asking] : status.members.map(row))
  }

  private var asking: RowGroup.Row {
    RowGroup.Row(
      title: Text.of("This computer asks to share"),
      subtitle: Text.of(
        "Let it in on another of your computers: there its name stands on this page. Keep this window open."),
      buttons: [leaving])
  }

  private var leaving: RowGroup.Button {
    .init(
      label: Text.of("Stop Sharing"), spoken: Text.of("Stop sharing on this computer"), isDestructive: true
    ) { [weak self] in self?.confirmLeaving() }
  }

  // MARK: Beginning and joining

  private func enter(joining: Bool) {
    CircleEntryWindow(joining: joining, of: store) { [weak self] in
      guard let self else { return }
      if !joining { store.say(Text.of("This computer is the first. Share a secret by its page.")) }
      refresh()
      store.reload()
      exchangeByItself()
    }.present()
  }

  /// Turns the timer on that exchanges without this window.
  private func exchangeByItself() {
    guard let opened = store.store else { return }
    let place = store.place
    MainLoop.begin {
      do throws(Failure) {
        let isOn = try await VaultWork.runAside { () throws(Failure) in
          try SyncUnits.enable(for: try WindowSettings(place, opened), ServiceManager.ofThisProgram)
        }
        if !isOn {
          store.say(
            Text.of("Nothing is exchanged by itself here: use “Exchange Now” after changes, or 'whorl sync now'."))
        }
      } catch {
        store.say(error)
      }
    }
  }

  private func confirmLeaving() {
    Question.ask(
      Text.of("Stop Sharing With Your Other Computers?"),
      Text.of("The secrets stay here. Later changes are not shared any more."), answer: Text.of("_Stop Sharing"),
      isDestructive: true, over: store.window
    ) { [self] in leave() }
  }

  private func leave() {
    guard let opened = store.store else { return }
    MainLoop.begin {
      do throws(Failure) {
        let change = SetupChange(try WindowSettings(store.place, opened), store, at: store.place)
        try await change.leaveComputers()
        for words in change.dialogue.report { store.say(words) }
      } catch {
        store.say(error)
      }
      refresh()
      store.reload()
    }
  }

  /// Looks again soon while another computer has to answer.
  private func wait(for status: SyncStatus) {
    let isAwaited =
      status.standing == .asking
      || status.candidates.contains { $0.words.isEmpty ? answered.contains($0.id) : !$0.hasAgreed }
    guard isAwaited, waiting == nil else { return }
    waiting = MainLoop.after(seconds: Self.seconds) { [weak self] in
      guard let self, let opened = store.store else { return }
      waiting = nil
      let place = store.place
      MainLoop.begin { [weak self] in
        _ = await Exchange.run(opened, at: place)
        self?.refresh()
      }
    }
  }

  /// This computer was let in: what came under the passcode is opened with it once.
  private func welcome(_ status: SyncStatus) {
    store.say(Text.of("This computer shares your secrets now"))
    store.reload()
    guard status.waiting.contains(where: { $0.reason == .proof }) else { return }
    resolve(.open)
  }

  private func showWords(_ status: SyncStatus) {
    let candidate = status.candidates.first { !$0.words.isEmpty }
    let isAsked = status.standing == .asking && !status.hasAgreed
    let words = candidate?.words ?? (isAsked ? status.words : [])
    interface["words-group"].isVisible = !words.isEmpty
    interface["words"].set("label", Visible.text(words.joined(separator: " ")))
    if let candidate {
      // Only a computer whose owner has agreed can be let in.
      interface["same"].isSensitive = candidate.hasAgreed
      interface["same"].set("tooltip-text", candidate.hasAgreed ? "" : Text.of("Say yes on the other computer first"))
      answer = (
        { [weak self] in self?.change(.approve(candidate.id, replacing: nil)) },
        { [weak self] in self?.change(.refuse(candidate.id)) }
      )
    } else {
      interface["same"].isSensitive = true
      answer = ({ [weak self] in self?.change(.agree) }, { [weak self] in self?.change(.leave) })
    }
  }

  private func changes(_ status: SyncStatus) -> [RowGroup.Row] {
    guard !status.unconfirmed.isEmpty || status.isLocked || status.isForked else { return [] }
    let sentences = status.unconfirmed.flatMap { change in
      change.added.map {
        Text.of("“{by}” has let “{name}” in, which then reads all that is shared.", ["by": change.by, "name": $0])
      }
        + change.removed.map {
          Text.of("“{by}” has removed “{name}”.", ["by": change.by, "name": $0])
        }
    }
    let forked = status.isForked ? [Text.of("There are two different lists of your computers.")] : []
    return [
      RowGroup.Row(
        title: Text.of("Your computers have changed"),
        subtitle: Visible.text((sentences + forked).joined(separator: " ")),
        buttons: [
          .init(label: Text.of("No"), spoken: Text.of("No, it was not me"), isDestructive: true) { [weak self] in
            self?.change(.reject)
          },
          .init(label: Text.of("Yes"), spoken: Text.of("Yes, it was me")) { [weak self] in self?.change(.confirm) },
        ])
    ]
  }

  private func row(_ kept: SyncStatus.Kept) -> RowGroup.Row {
    let name = Visible.text(kept.item.description)
    return RowGroup.Row(
      title: name,
      subtitle: Text.of(
        "as “{writer}” wrote it on {time}",
        ["writer": Visible.text(kept.writer), "time": Spoken.time(Int64(clamping: kept.written))]),
      buttons: [
        .init(
          label: Text.of("Drop"), spoken: Text.of("Drop this version of {name}", ["name": name]),
          isDestructive: true
        ) { [weak self] in self?.resolve(.drop(kept: kept.id)) },
        .init(label: Text.of("Use"), spoken: Text.of("Use this version of {name}", ["name": name])) {
          [weak self] in self?.resolve(.use(kept: kept.id))
        },
      ])
  }

  private func row(_ member: SyncMember) -> RowGroup.Row {
    let name = Self.name(member)
    guard !member.isThisMachine else {
      return RowGroup.Row(title: name, subtitle: Text.of("this computer"), buttons: [leaving])
    }
    return RowGroup.Row(
      title: name,
      buttons: [
        .init(
          label: Text.of("Remove"), spoken: Text.of("Remove {name}", ["name": name]),
          isDestructive: true
        ) { [weak self] in self?.confirmRemoval(of: member, name) }
      ])
  }

  private static func name(_ member: SyncMember) -> String {
    member.name.isEmpty ? String(member.id.description.prefix(8)) : Visible.text(member.name)
  }

  private static func words(_ reason: SyncStatus.Waiting.Reason) -> String {
    switch reason {
    case .touch: Text.of("until a finger is touched here")
    case .locked: Text.of("until your secrets are open")
    case .passcode: Text.of("until a passcode is set")
    case .proof: Text.of("until the passcode was typed once here")
    case .recipients: Text.of("until another computer has shared it with this one")
    case .refused: Text.of("could not be stored here")
    }
  }

  // MARK: Changes

  private func confirmRemoval(of member: SyncMember, _ name: String) {
    Question.ask(
      Text.of("Remove “{name}”?", ["name": name]),
      Text.of(
        "It keeps what it has, and receives no more changes. If it is lost, change your secrets where they are used."),
      answer: Text.of("_Remove"), isDestructive: true, over: store.window
    ) { [self] in change(.remove(member.id)) }
  }

  private func change(_ change: SyncMemberChange) {
    decide { service, asking throws(VaultError) in try await service.sync.change(change, asking) }
  }

  private func resolve(_ resolution: SyncResolution) {
    decide { service, asking throws(VaultError) in try await service.sync.resolve(resolution, asking) }
  }

  private func decide(
    _ request: @escaping SentAskingRequest<Void>
  ) {
    MainLoop.begin {
      do throws(VaultError) {
        try await store.ask(request)
        exchange()
      } catch {
        store.say(error)
      }
      refresh()
    }
  }

  /// Tells the other computers, and hears from them.
  private func exchange() {
    guard let opened = store.store else { return }
    interface["sync"].isSensitive = false
    MainLoop.begin {
      switch await Exchange.run(opened, at: store.place) {
      case .done: store.say(Text.of("Exchanged with your other computers"))
      case .notReached:
        store.say(Text.of("The repository did not take this now; it is tried again. 'whorl sync now' says why."))
      case .failed(let error): store.say(error)
      }
      interface["sync"].isSensitive = true
      refresh()
      store.reload()
    }
  }
}
