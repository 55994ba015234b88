internal import Primitives
internal import SecretModel
internal import Synchronization

/// The conversation with one browser: opens its messages, and seals the answers.
final class BrowserConversation: Sendable {
  /// A message that was read, and how it is answered.
  struct Errand: Sendable {
    /// Whether a person may be asked, so that other messages are answered meanwhile.
    let mayAsk: Bool
    /// The answer where too many requests wait for the person.
    let refusal: String
    /// Makes the answer, as JSON.
    let answer: @Sendable () async -> String
    /// What is done after the answer. Returns a message of its own, as JSON; nil for none.
    var followUp: @Sendable () async -> String? = { nil }
  }

  private struct State {
    var box: MessageBox?
    var clientID: String?
    var client: BrowserClient?
    /// The last nonces of answers, so that none is used twice.
    var nonces: [[UInt8]] = []
  }

  /// A message that was opened.
  private struct Opened: Sendable {
    let request: BrowserRequest
    let client: BrowserClient
    let box: MessageBox
    /// That of the answer.
    let nonce: [UInt8]
  }

  /// The most nonces that are remembered.
  private static let mostNonces = 4_096
  /// The longest name of an action that is repeated in an answer, in bytes.
  private static let longestAction = 64

  private let makeClient: @Sendable (_ key: [UInt8]) -> BrowserClient
  private let state = Mutex(State())

  /// - Parameter client: answers the requests of a browser that has this key for the connection.
  init(client: @escaping @Sendable (_ key: [UInt8]) -> BrowserClient) { makeClient = client }

  /// Reads a message.
  func errand(for bytes: SharedSecret) -> Errand {
    guard let envelope = BrowserEnvelope(bytes) else { return Self.saying(Self.refusal(.empty, of: nil)) }
    guard let action = envelope.action.flatMap({ BrowserAction(rawValue: $0) }) else {
      return Self.saying(Self.refusal(.unknownAction, of: envelope))
    }
    if action == .changePublicKeys { return Self.saying(changeKeys(envelope)) }
    let opened: Opened
    do throws(BrowserError) {
      opened = try open(envelope)
    } catch {
      return Self.saying(Self.refusal(error, of: envelope))
    }
    let unlocks = action == .databaseHash && envelope.triggerUnlock == "true"
    let mayAsk = unlocks || [.associate, .logins, .setLogin, .oneTimeCode].contains(action)
    let errand = Errand(mayAsk: mayAsk, refusal: Self.refusal(.refused, of: envelope)) {
      do throws(BrowserError) {
        var reply = BrowserReply(nonce: opened.nonce)
        try await opened.client.answer(action, opened.request, into: &reply)
        let message = reply.finished()
        guard let sealed = opened.box.seal(message, nonce: opened.nonce) else { throw .tooLong }
        let text = BrowserReply.envelope(action.rawValue, sealed: sealed, nonce: opened.nonce)
        guard text.utf8.count <= NativeFrame.limit else { throw .tooLong }
        return text
      } catch {
        return Self.refusal(error, of: envelope)
      }
    }
    guard unlocks else { return errand }
    // The extension takes no answer within half a second for a broken connection. So it is told that the store is closed, and
    // that it is open once the person has opened it.
    return Errand(mayAsk: errand.mayAsk, refusal: errand.refusal, answer: errand.answer) {
      await opened.client.unlock() ? BrowserReply.plain([("action", "database-unlocked")]) : nil
    }
  }

  private static func saying(_ text: String) -> Errand { Errand(mayAsk: false, refusal: text) { text } }

  private static func refusal(_ error: BrowserError, of envelope: BrowserEnvelope?) -> String {
    let action = envelope?.action.flatMap { $0.utf8.count <= longestAction ? $0 : nil } ?? ""
    let mark = envelope?.mark.map { [("requestID", $0)] } ?? []
    return BrowserReply.plain([("action", action), ("errorCode", "\(error.rawValue)"), ("error", error.words)] + mark)
  }

  private func changeKeys(_ envelope: BrowserEnvelope) -> String {
    guard let key = envelope.publicKey.flatMap({ Base64URL.bytes(of: $0) }), let box = MessageBox(with: key),
      let nonce = envelope.nonce.flatMap({ Base64URL.bytes(of: $0) }), nonce.count == MessageBox.nonceSize
    else { return Self.refusal(.noClientKey, of: envelope) }
    let client = makeClient(key)
    state.withLock { state in
      state = State()
      (state.box, state.clientID, state.client) = (box, envelope.clientID, client)
    }
    return BrowserReply.plain([
      ("action", BrowserAction.changePublicKeys.rawValue), ("version", BrowserReply.version),
      ("publicKey", Base64.text(of: box.publicKey)), ("nonce", Base64.text(of: MessageBox.next(nonce))),
      ("success", "true"),
    ])
  }

  /// Opens the message in an envelope, which the browser of this connection has sealed, once.
  private func open(_ envelope: BrowserEnvelope) throws(BrowserError) -> Opened {
    let (box, client) = state.withLock { state in
      state.clientID == envelope.clientID ? (state.box, state.client) : (nil, nil)
    }
    guard let box, let client else { throw .noClientKey }
    guard let nonce = envelope.nonce.flatMap({ Base64URL.bytes(of: $0) }), nonce.count == MessageBox.nonceSize,
      let sealed = envelope.message.flatMap({ Base64URL.bytes(of: $0) }), let message = box.open(sealed, nonce: nonce),
      let request = BrowserRequest(SharedSecret(message)), request.action == envelope.action
    else { throw .undecryptable }
    let next = MessageBox.next(nonce)
    let isNew = state.withLock { state in
      guard !state.nonces.contains(next) else { return false }
      if state.nonces.count >= Self.mostNonces { state.nonces.removeFirst() }
      state.nonces.append(next)
      return true
    }
    guard isNew else { throw .undecryptable }
    return Opened(request: request, client: client, box: box, nonce: next)
  }
}
