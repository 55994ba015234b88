internal import Primitives

/// The state machine of CTAPHID, without I/O: takes reports and the time, returns reports and events. It serves one
/// transaction at a time, for all channels together.
package struct HIDTransport: Sendable {
  package enum Output: Sendable, Hashable {
    /// A report for the client.
    case send([UInt8])
    /// A message of CTAP2, to be answered with ``answer(_:to:)``.
    case request(UInt64, channel: UInt32, [UInt8])
    /// The request must end soon. A client that has sent CTAPHID_CANCEL still expects its answer.
    case cancel(UInt64)
  }

  private enum State: Sendable {
    case idle
    case receiving(Incoming)
    case serving(request: UInt64, channel: UInt32, nextKeepAlive: UInt64)
  }

  private struct Incoming: Sendable {
    let channel: UInt32
    let command: HIDCommand
    let count: Int
    var bytes: [UInt8]
    var sequence: UInt8 = 0
    var deadline: UInt64
  }

  /// The time limit for the next packet of a message, in milliseconds.
  package static let transactionTimeout: UInt64 = 500
  /// The milliseconds between two keep-alive messages.
  package static let keepAliveInterval: UInt64 = 100
  /// CTAPHID_CBOR; neither CTAPHID_MSG, which is U2F, nor CTAPHID_WINK.
  static let capabilities: UInt8 = 0x04 | 0x08
  private static let protocolVersion: UInt8 = 2

  private var state = State.idle
  /// Channels from 1 to this one are allocated.
  private var lastChannel: UInt32 = 0
  private var lastRequest: UInt64 = 0
  private let deviceVersion: [UInt8]

  package init(deviceVersion: (UInt8, UInt8, UInt8) = (0, 1, 0)) {
    self.deviceVersion = [deviceVersion.0, deviceVersion.1, deviceVersion.2]
  }

  /// - Parameter lastChannel: channels from 1 to this one count as allocated.
  init(lastChannel: UInt32) {
    self.init()
    self.lastChannel = lastChannel
  }

  /// When to call ``tick(at:_:)``; nil while idle.
  package var deadline: UInt64? {
    switch state {
    case .idle: return nil
    case .receiving(let incoming): return incoming.deadline
    case .serving(_, _, let nextKeepAlive): return nextKeepAlive
    }
  }

  /// Handles a report. Ignores one of another length, which a real device would not receive.
  package mutating func receive(_ report: [UInt8], at now: UInt64) -> [Output] {
    guard report.count == HIDReport.count else { return [] }
    let channel = UInt32(bigEndian: report[..<4])
    // Accept a continuation packet even after the deadline: this process may have been slow to read it.
    if report[4] & 0x80 == 0 { return resume(channel, report[4], report[5...], at: now) }
    return expire(at: now)
      + begin(
        channel, report[4] & 0x7F, Int(clamping: UInt16(bigEndian: report[5..<7])), report[7...], at: now)
  }

  /// Aborts a message whose next packet is late, or sends a keep-alive message to the client that waits.
  package mutating func tick(at now: UInt64, _ status: HIDStatus) -> [Output] {
    guard case .serving(let request, let channel, let nextKeepAlive) = state else { return expire(at: now) }
    guard now >= nextKeepAlive else { return [] }
    state = .serving(request: request, channel: channel, nextKeepAlive: now + Self.keepAliveInterval)
    return reply(.keepAlive, [status.rawValue], on: channel)
  }

  /// Sends the answer to a request, unless the client has abandoned the request.
  package mutating func answer(_ message: [UInt8], to request: UInt64) -> [Output] {
    guard case .serving(request, let channel, _) = state else { return [] }
    state = .idle
    return reply(.cbor, message, on: channel)
  }

  private mutating func expire(at now: UInt64) -> [Output] {
    guard case .receiving(let incoming) = state, now >= incoming.deadline else { return [] }
    state = .idle
    return error(.timeout, on: incoming.channel)
  }

  private mutating func begin(
    _ channel: UInt32, _ number: UInt8, _ count: Int, _ payload: ArraySlice<UInt8>, at now: UInt64
  ) -> [Output] {
    let command = HIDCommand(rawValue: number)
    if command == .initialize { return initialize(channel, count, payload.prefix(8)) }
    guard channel >= 1, channel <= lastChannel else { return error(.invalidChannel, on: channel) }
    if command == .cancel { return cancel(on: channel) }
    switch state {
    case .receiving(let incoming) where incoming.channel == channel:
      state = .idle
      return error(.invalidSequence, on: channel)
    case .receiving, .serving:
      return error(.channelBusy, on: channel)
    case .idle: break
    }
    // This refuses CTAPHID_MSG as well, as the capabilities say.
    guard let command, command == .ping || command == .cbor else { return error(.invalidCommand, on: channel) }
    guard count <= HIDReport.messageLimit, count > 0 || command == .ping else {
      return error(.invalidLength, on: channel)
    }
    let incoming = Incoming(
      channel: channel, command: command, count: count, bytes: Array(payload.prefix(count)),
      deadline: now + Self.transactionTimeout)
    return progress(incoming, at: now)
  }

  private mutating func resume(
    _ channel: UInt32, _ sequence: UInt8, _ payload: ArraySlice<UInt8>, at now: UInt64
  ) -> [Output] {
    // Ignore continuation packets of a refused message.
    guard case .receiving(var incoming) = state, incoming.channel == channel else { return [] }
    guard sequence == incoming.sequence else {
      state = .idle
      return error(.invalidSequence, on: channel)
    }
    incoming.bytes += payload.prefix(incoming.count - incoming.bytes.count)
    incoming.sequence += 1
    incoming.deadline = now + Self.transactionTimeout
    return progress(incoming, at: now)
  }

  private mutating func progress(_ incoming: Incoming, at now: UInt64) -> [Output] {
    guard incoming.bytes.count == incoming.count else {
      state = .receiving(incoming)
      return []
    }
    state = .idle
    guard incoming.command == .cbor else { return reply(incoming.command, incoming.bytes, on: incoming.channel) }
    lastRequest += 1
    state = .serving(
      request: lastRequest, channel: incoming.channel, nextKeepAlive: now + Self.keepAliveInterval)
    return [.request(lastRequest, channel: incoming.channel, incoming.bytes)]
  }

  /// Allocates a channel, or aborts the transaction on an existing one.
  private mutating func initialize(_ channel: UInt32, _ count: Int, _ nonce: ArraySlice<UInt8>) -> [Output] {
    guard channel == HIDReport.broadcast || (channel >= 1 && channel <= lastChannel) else {
      return error(.invalidChannel, on: channel)
    }
    guard count == 8 else { return error(.invalidLength, on: channel) }
    var outputs: [Output] = []
    var target = channel
    if channel == HIDReport.broadcast {
      guard lastChannel < HIDReport.broadcast - 1 else { return error(.channelBusy, on: channel) }
      lastChannel += 1
      target = lastChannel
    } else {
      switch state {
      case .receiving(let incoming) where incoming.channel == channel: state = .idle
      case .serving(let request, channel, _):
        state = .idle
        outputs = [.cancel(request)]
      default: break
      }
    }
    let identifier = withUnsafeBytes(of: target.bigEndian) { Array($0) }
    let body = Array(nonce) + identifier + [Self.protocolVersion] + deviceVersion + [Self.capabilities]
    return outputs + reply(.initialize, body, on: channel)
  }

  /// CTAPHID_CANCEL has no answer of its own.
  private func cancel(on channel: UInt32) -> [Output] {
    guard case .serving(let request, channel, _) = state else { return [] }
    return [.cancel(request)]
  }

  private func reply(_ command: HIDCommand, _ message: [UInt8], on channel: UInt32) -> [Output] {
    HIDReport.packets(command, message, on: channel).map { .send($0) }
  }

  private func error(_ error: HIDError, on channel: UInt32) -> [Output] {
    reply(.error, [error.rawValue], on: channel)
  }
}
