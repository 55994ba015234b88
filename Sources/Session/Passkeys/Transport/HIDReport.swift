/// The reports of CTAPHID (CTAP 2.1, 11.2).
package enum HIDReport {
  /// The length of every report.
  package static let count = 64
  /// The maximum size of a message: an initialization packet and 128 continuation packets.
  package static let messageLimit = firstPayload + 128 * nextPayload
  /// The channel on which clients allocate their own.
  package static let broadcast: UInt32 = 0xFFFF_FFFF

  static let firstPayload = count - 7
  static let nextPayload = count - 5

  /// Splits a message into packets.
  package static func packets(_ command: HIDCommand, _ message: [UInt8], on channel: UInt32) -> [[UInt8]] {
    precondition(message.count <= messageLimit, "the message is too long for CTAPHID")
    let identifier = withUnsafeBytes(of: channel.bigEndian) { Array($0) }
    func filled(_ head: [UInt8], _ part: ArraySlice<UInt8>) -> [UInt8] {
      identifier + head + part + [UInt8](repeating: 0, count: count - identifier.count - head.count - part.count)
    }
    let length = message.count
    let first = filled(
      [command.rawValue | 0x80, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)],
      message.prefix(firstPayload))
    let rest = stride(from: firstPayload, to: length, by: nextPayload).enumerated().map { sequence, start in
      filled([UInt8(truncatingIfNeeded: sequence)], message[start..<min(start + nextPayload, length)])
    }
    return [first] + rest
  }
}

/// The commands of CTAPHID.
package enum HIDCommand: UInt8, Sendable, Hashable {
  case ping = 0x01
  case message = 0x03
  case lock = 0x04
  case initialize = 0x06
  case wink = 0x08
  case cbor = 0x10
  case cancel = 0x11
  case keepAlive = 0x3B
  case error = 0x3F
}

/// The errors of CTAPHID.
package enum HIDError: UInt8, Sendable, Hashable {
  case invalidCommand = 0x01
  case invalidParameter = 0x02
  case invalidLength = 0x03
  case invalidSequence = 0x04
  case timeout = 0x05
  case channelBusy = 0x06
  case invalidChannel = 0x0B
}

/// The status in a keep-alive message.
package enum HIDStatus: UInt8, Sendable, Hashable {
  case processing = 1
  /// Waiting for the user.
  case userPresenceNeeded = 2
}
