internal import Primitives
internal import Synchronization
internal import VirtualFinger
public import Whorl

/// A simulated person in front of a ``TemporaryStore``, who touches its reader with generated fingers and types its
/// passcode.
///
/// By default the person touches the reader with an enrolled finger each time one is wanted, and types the right
/// passcode. ``willRespond(_:)`` sets other responses.
public final class SyntheticPerson: AuthenticationPrompt {
  /// What the person does when a touch or the passcode is wanted.
  public enum Response: Sendable, Hashable {
    /// Touches the reader. Where the passcode is wanted: types the right one.
    case touch(by: Toucher)
    /// A touch that cannot be read: too short.
    case unreadableTouch
    /// Types a wrong passcode. Where a touch is wanted: touches with a finger that is not enrolled.
    case mistake
    /// Cancels the request: `VaultError.cancelled`, `LAError.userCancel`.
    case cancel
    /// Chooses the passcode in place of the finger, or the program's own fallback.
    case fallback
    /// Does nothing, so that the request times out or is cancelled by the program.
    case nothing
  }

  /// The finger that touches the reader.
  public enum Toucher: Sendable, Hashable {
    /// The first finger that is enrolled.
    case enrolled
    /// This finger of the same person.
    case finger(Finger)
    /// A finger of another person.
    case somebodyElse
  }

  private struct State {
    var fingers: [Finger] = []
    var responses: [Response] = []
    var events: [AuthenticationEvent] = []
    var recoveryKey: SharedSecret?
    /// The number of touches, so that each has a different picture.
    var touches: UInt64 = 0
  }

  private static let owner = 1
  private static let stranger = 2

  private let socket: String
  private let passcode: String?
  private let state = Mutex(State())

  init(socket: String, passcode: String?) {
    self.socket = socket
    self.passcode = passcode
  }

  /// Sets the person's next responses, in this order. After these the person responds as by default.
  public func willRespond(_ responses: Response...) { state.withLock { $0.responses += responses } }

  /// The events of the store so far.
  public var events: [AuthenticationEvent] { state.withLock { $0.events } }

  /// How often a finger was wanted for a secret or an evaluation, without the touches of enrolments.
  public var touchesWanted: Int {
    events.count { event in
      guard case .touchWanted(let request) = event else { return false }
      return switch request.purpose {
      case .read, .evaluate: true
      case .enroll, .confirm: false
      }
    }
  }

  /// Responds to an event like a person.
  public func handle(_ event: AuthenticationEvent, in session: PromptSession) async {
    state.withLock { $0.events.append(event) }
    switch event {
    case .touchWanted(let request): await touch(for: request, in: session)
    case .secretWanted(let request): await answer(request, in: session)
    default: break
    }
  }

  // MARK: Events of the store

  func keep(recoveryKey: consuming SecretBytes) {
    let key = SharedSecret(recoveryKey)
    state.withLock { $0.recoveryKey = key }
  }

  func learn(_ finger: Finger) { state.withLock { $0.fingers.append(finger) } }

  func forget(_ finger: Finger) { state.withLock { $0.fingers.removeAll { $0 == finger } } }

  // MARK: Touches

  private func touch(for request: TouchRequest, in session: PromptSession) async {
    switch request.purpose {
    case .enroll(let finger), .confirm(let finger): await press(finger, of: Self.owner)
    case .read, .evaluate: await act(nextResponse(), in: session)
    }
  }

  private func act(_ response: Response, in session: PromptSession) async {
    switch response {
    case .touch(.enrolled):
      // Without an enrolled finger, do not touch: nothing could match.
      if let finger = state.withLock({ $0.fingers.first }) { await press(finger, of: Self.owner) }
    case .touch(.finger(let finger)): await press(finger, of: Self.owner)
    case .touch(.somebodyElse), .mistake: await press(.rightIndex, of: Self.stranger)
    case .unreadableTouch:
      let reader = VirtualImageReader(socket: socket)
      try? await onOwnThread { () throws(VirtualReaderError) in try reader.retry(.tooShort) }
    case .cancel: await session.cancel()
    case .fallback: await session.chooseFallback()
    case .nothing: break
    }
  }

  private func nextResponse() -> Response {
    state.withLock { $0.responses.isEmpty ? .touch(by: .enrolled) : $0.responses.removeFirst() }
  }

  /// Touches the reader. Ignores errors: the scan may have ended meanwhile.
  private func press(_ finger: Finger, of person: Int) async {
    let number = state.withLock { state in
      state.touches += 1
      return state.touches
    }
    let reader = VirtualImageReader(socket: socket)
    try? await onOwnThread { () throws(VirtualReaderError) in
      try reader.press(SyntheticFinger(person: person, finger: finger).impression(number))
    }
  }

  // MARK: Secrets

  private func answer(_ request: SecretRequest, in session: PromptSession) async {
    switch request {
    case .passcode: await typePasscode(in: session)
    case .recoveryKey:
      guard let key = state.withLock({ $0.recoveryKey }) else { return await session.decline() }
      await session.answer(key.copy())
    case .newPasscode, .applicationPassword: await session.decline()
    }
  }

  private func typePasscode(in session: PromptSession) async {
    guard let passcode else { return await session.decline() }
    switch state.withLock({ $0.responses.first }) {
    case .mistake:
      _ = nextResponse()
      await session.answer(SecretBytes(text: passcode + " and more"))
    case .cancel:
      _ = nextResponse()
      await session.cancel()
    case .nothing: _ = nextResponse()
    // Keep a response that is meant for a touch, and type the right passcode.
    case .touch, .unreadableTouch, .fallback, nil: await session.answer(SecretBytes(text: passcode))
    }
  }
}

extension SecretBytes {
  /// The passcode of a test.
  init(text: String) {
    let bytes = Array(text.utf8)
    self.init(copying: bytes.span)
  }
}
