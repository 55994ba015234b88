internal import CAdwaita
internal import Primitives
internal import Prompts
internal import SecretModel
internal import Settings
internal import Whorl

/// The fingers: both hands, on which an enrolled finger is lit, and the reader. A finger that is clicked is enrolled, or
/// removed after what that loses was said.
final class FingersPage: WindowPage {
  private let interface = Interface(PackageResources.fingers_ui)
  private let store: ShownStore
  private var look: FingerLook?
  private let enrolledRows: RowGroup
  private var isLooking = false

  init(of store: ShownStore, goBack: @escaping () -> Void) {
    self.store = store
    enrolledRows = RowGroup(interface["enrolled"])
    interface["back-to-pages"].on("clicked") { goBack() }
    for finger in Finger.allCases {
      let button = interface[finger.rawValue]
      button.set("tooltip-text", finger.title)
      button.on("clicked") { [weak self] in self?.choose(finger) }
    }
    showEnrolled([])
  }

  var root: Widget { interface["page"] }

  func setNarrow(_ isNarrow: Bool) { interface["back-to-pages"].isVisible = isNarrow }

  func refresh() {
    guard !isLooking, let opened = store.store else { return }
    isLooking = true
    MainLoop.begin {
      do throws(VaultError) {
        show(try await VaultWork.run { () async throws(VaultError) in try await FingerLook(at: opened) })
      } catch {
        tell(error.sentence)
      }
      isLooking = false
    }
  }

  // MARK: What is shown

  private func show(_ look: FingerLook) {
    self.look = look
    let reader = interface["reader"]
    reader.set("title", look.readers.chosen.map(Spoken.reader) ?? Text.of("No Reader"))
    reader.set("subtitle", subtitle(of: look))
    let here = look.status.sets.filter { $0.reader == look.readers.chosen?.identity }.flatMap(\.fingers)
    showEnrolled(here)
    interface["hands"].isSensitive = look.readers.chosen != nil
    interface["elsewhere"].isVisible = look.readerOfFprintd != nil
    tell(look.problem?.sentence)
  }

  private func subtitle(of look: FingerLook) -> String {
    guard let reader = look.readers.chosen else {
      return look.readers.problem?.sentence ?? Text.of("Without a reader your passcode opens your secrets.")
    }
    if look.isOfFprintd { return Text.of("Its fingers are those of the desktop's settings.") }
    return reader.scanType == .swipe ? Text.of("You swipe your finger over it.") : Text.of("You touch it.")
  }

  private func showEnrolled(_ fingers: [EnrolledFinger]) {
    let enrolled = Set(fingers.map(\.finger))
    for finger in Finger.allCases {
      let button = interface[finger.rawValue]
      if enrolled.contains(finger) {
        gtk_widget_add_css_class(button.typed(), "suggested-action")
      } else {
        gtk_widget_remove_css_class(button.typed(), "suggested-action")
      }
      let place = ["finger": finger.title]
      button.setSpokenName(
        enrolled.contains(finger) ? Text.of("{finger}, enrolled", place) : Text.of("{finger}, not enrolled", place))
    }
    enrolledRows.show(
      fingers.map {
        RowGroup.Row(
          title: $0.finger.title, subtitle: Text.of("since {time}", ["time": Spoken.time($0.enrolled)]))
      })
  }

  private func tell(_ problem: String?) {
    interface["problem"].set("label", problem ?? "")
    interface["problem"].isVisible = problem != nil
  }

  // MARK: Changes

  private func choose(_ finger: Finger) {
    let isEnrolled = look?.status.sets.contains {
      $0.reader == look?.readers.chosen?.identity && $0.fingers.contains { $0.finger == finger }
    }
    MainLoop.begin {
      do throws(VaultError) {
        let lost = try await store.call { service throws(VaultError) in try await service.losses(.fingers) }
        if isEnrolled == true { confirmRemoval(of: finger, lost) } else { confirmEnrolment(of: finger, lost) }
      } catch {
        store.say(error)
      }
    }
  }

  private func confirmRemoval(of finger: Finger, _ lost: [ItemName]) {
    ask(
      Text.of("Remove {finger}?", ["finger": Spoken.finger(finger)]),
      words(Text.of("It opens nothing any more. You can enrol it again."), lost), answer: Text.of("_Remove"),
      whatIsLost: lost
    ) { [self] in
      change(Text.of("{finger} is removed", ["finger": Spoken.leadingFinger(finger)])) {
        store, fprintd throws(Failure) in
        if let fprintd { return try await FprintdWork.delete(finger, on: fprintd, store) }
        try await Self.ask(store) { service, asking throws(VaultError) in try await service.unenroll(finger, asking) }
      }
    }
  }

  private func confirmEnrolment(of finger: Finger, _ lost: [ItemName]) {
    let enrol = { [self] in
      change(Text.of("{finger} is enrolled", ["finger": Spoken.leadingFinger(finger)])) {
        store, fprintd throws(Failure) in
        if let fprintd { return try await FprintdWork.enroll(finger, on: fprintd, store) }
        try await Self.ask(store) { service, asking throws(VaultError) in try await service.enroll(finger, asking) }
      }
    }
    guard !lost.isEmpty else { return enrol() }
    ask(
      Text.of("Enrol {finger}?", ["finger": Spoken.finger(finger)]), words(nil, lost), answer: Text.of("_Enrol"),
      whatIsLost: lost, agreed: enrol)
  }

  /// Asks before a change. Where that destroys secrets, a click alone is not enough.
  private func ask(
    _ heading: String, _ body: String, answer: String, whatIsLost lost: [ItemName], agreed: @escaping () -> Void
  ) {
    guard !lost.isEmpty else {
      return Question.ask(heading, body, answer: answer, isDestructive: true, over: store.window, agreed: agreed)
    }
    Question.ask(
      heading, body, consent: Text.of("These secrets may be destroyed"), answer: answer, over: store.window,
      agreed: agreed)
  }

  /// What a change of the fingers means, with the secrets that it destroys.
  private func words(_ meaning: String?, _ lost: [ItemName]) -> String {
    guard !lost.isEmpty else { return meaning ?? "" }
    let loss = Text.of(
      "These secrets are bound to the fingers as they are now, and are lost for good: {names}.",
      ["names": PromptLabel.names(lost.map(\.description))])
    return [meaning, loss].compactMap { $0 }.joined(separator: " ")
  }

  /// - Parameter request: gets the reader of fprintd if the fingers are those of the desktop's settings.
  private func change(
    _ done: String, _ request: @escaping (ShownStore, ReaderDescription?) async throws(Failure) -> Void
  ) {
    interface["hands"].isSensitive = false
    MainLoop.begin {
      do throws(Failure) {
        try await request(store, look?.readerOfFprintd)
        store.say(done)
      } catch {
        store.say(error)
      }
      interface["hands"].isSensitive = true
      store.reload()
    }
  }

  private static func ask(
    _ store: ShownStore, _ request: @escaping SentAskingRequest<SetChange>
  ) async throws(Failure) {
    do throws(VaultError) { _ = try await store.ask(request) } catch { throw Failure(error) }
  }
}

extension Finger {
  /// "Right index finger".
  fileprivate var title: String {
    switch self {
    case .leftThumb: Text.of("Left thumb")
    case .leftIndex: Text.of("Left index finger")
    case .leftMiddle: Text.of("Left middle finger")
    case .leftRing: Text.of("Left ring finger")
    case .leftLittle: Text.of("Left little finger")
    case .rightThumb: Text.of("Right thumb")
    case .rightIndex: Text.of("Right index finger")
    case .rightMiddle: Text.of("Right middle finger")
    case .rightRing: Text.of("Right ring finger")
    case .rightLittle: Text.of("Right little finger")
    }
  }
}
