import Testing

@testable import Passkeys

@Suite("CTAPHID")
struct HIDTransportTests {
  private typealias Output = HIDTransport.Output

  /// The command and the first bytes of a report.
  private func shown(_ outputs: [Output]) -> [String] {
    outputs.map {
      switch $0 {
      case .send(let report): "send \(report[4] & 0x7F) \(report[7])"
      case .request(let number, _, let message): "request \(number) \(message.count)"
      case .cancel(let number): "cancel \(number)"
      }
    }
  }

  private func allocate(_ transport: inout HIDTransport) -> UInt32 {
    let outputs = transport.receive(
      HIDReport.packets(.initialize, [9, 8, 7, 6, 5, 4, 3, 2], on: HIDReport.broadcast)[0], at: 0)
    guard case .send(let report)? = outputs.first else { return 0 }
    return report[15..<19].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func send(
    _ transport: inout HIDTransport, _ command: HIDCommand, _ message: [UInt8], on channel: UInt32, at now: UInt64 = 0
  ) -> [Output] {
    HIDReport.packets(command, message, on: channel).flatMap { transport.receive($0, at: now) }
  }

  @Test("the CTAPHID transport gives each client a channel of its own, with the client's nonce")
  func channels() throws {
    var transport = HIDTransport()
    let outputs = send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: HIDReport.broadcast)
    guard case .send(let report)? = outputs.first else { throw TestPlatform.Ended() }
    #expect(
      Array(report[..<24]) == [255, 255, 255, 255, 0x86, 0, 17, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 2, 0, 1, 0, 12])
    #expect(allocate(&transport) == 2)
    #expect(allocate(&transport) == 3)
  }

  @Test("the CTAPHID transport gives no client the broadcast channel, even once all others are taken")
  func lastChannel() {
    var transport = HIDTransport(lastChannel: HIDReport.broadcast - 2)
    #expect(allocate(&transport) == HIDReport.broadcast - 1)
    #expect(
      shown(send(&transport, .initialize, [UInt8](repeating: 1, count: 8), on: HIDReport.broadcast)) == ["send 63 6"])
  }

  @Test("the CTAPHID transport returns a ping of every length")
  func ping() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    for count in Array(0...300) + [7549, 7550, 7608, 7609] {
      let message = (0..<count).map { UInt8($0 & 0xFF) }
      let outputs = send(&transport, .ping, message, on: channel)
      #expect(outputs == HIDReport.packets(.ping, message, on: channel).map { .send($0) })
    }
    #expect(HIDReport.messageLimit == 7609)
  }

  @Test("the CTAPHID transport refuses impossible lengths of messages and reports")
  func lengths() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    var report = HIDReport.packets(.ping, [], on: channel)[0]
    for count in [7610, 8000, 65535] {
      (report[5], report[6]) = (UInt8(count >> 8), UInt8(count & 255))
      #expect(shown(transport.receive(report, at: 0)) == ["send 63 3"])
    }
    #expect(shown(send(&transport, .cbor, [], on: channel)) == ["send 63 3"])
    #expect(shown(send(&transport, .initialize, [1, 2], on: channel)) == ["send 63 3"])
    for count in (0...200) where count != 64 {
      #expect(transport.receive([UInt8](repeating: 0x80, count: count), at: 0).isEmpty)
    }
  }

  @Test("the CTAPHID transport refuses every command that is not offered")
  func commands() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    for number in UInt8(0)...127 where ![0x01, 0x06, 0x10, 0x11].contains(number) {
      var report = HIDReport.packets(.ping, [1], on: channel)[0]
      report[4] = number | 0x80
      #expect(shown(transport.receive(report, at: 0)) == ["send 63 1"])
    }
  }

  @Test("the CTAPHID transport refuses every channel that was not allocated")
  func unknownChannels() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    for other in [0, channel + 1, 0x8000_0000, HIDReport.broadcast - 1, HIDReport.broadcast] {
      #expect(shown(send(&transport, .ping, [1], on: other)) == ["send 63 11"])
      #expect(shown(send(&transport, .cancel, [], on: other)) == ["send 63 11"])
    }
    for other in [0, channel + 1, 77] {
      #expect(shown(send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: other)) == ["send 63 11"])
    }
    #expect(shown(send(&transport, .ping, [5], on: channel)) == ["send 1 5"])
  }

  @Test("the CTAPHID transport refuses a packet out of order, and serves the next message", arguments: 0...127)
  func sequence(wrong: UInt8) {
    guard wrong != 1 else { return }
    var transport = HIDTransport()
    let channel = allocate(&transport)
    var packets = HIDReport.packets(.ping, [UInt8](repeating: 1, count: 300), on: channel)
    #expect(transport.receive(packets[0], at: 0).isEmpty)
    #expect(transport.receive(packets[1], at: 0).isEmpty)
    packets[2][4] = wrong
    #expect(shown(transport.receive(packets[2], at: 0)) == ["send 63 4"])
    #expect(transport.receive(packets[3], at: 0).isEmpty)
    #expect(shown(send(&transport, .ping, [5], on: channel)) == ["send 1 5"])
  }

  @Test("the CTAPHID transport drops a message when another begins on its channel")
  func interrupted() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    let packets = HIDReport.packets(.ping, [UInt8](repeating: 1, count: 100), on: channel)
    #expect(transport.receive(packets[0], at: 0).isEmpty)
    #expect(shown(transport.receive(packets[0], at: 0)) == ["send 63 4"])
    #expect(transport.receive(packets[1], at: 0).isEmpty)
    #expect(transport.receive(packets[0], at: 0).isEmpty)
    #expect(shown(send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: channel)) == ["send 6 1"])
    #expect(transport.receive(packets[1], at: 0).isEmpty)
  }

  @Test("a busy CTAPHID transport says so to a second client, and still allocates channels")
  func busy() {
    var transport = HIDTransport()
    let (one, two) = (allocate(&transport), allocate(&transport))
    let packets = HIDReport.packets(.ping, [UInt8](repeating: 1, count: 100), on: one)
    #expect(transport.receive(packets[0], at: 0).isEmpty)
    #expect(shown(send(&transport, .ping, [1], on: two)) == ["send 63 6"])
    #expect(transport.receive(HIDReport.packets(.ping, [UInt8](repeating: 1, count: 100), on: two)[1], at: 0).isEmpty)
    #expect(shown(send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: two)) == ["send 6 1"])
    #expect(shown(transport.receive(packets[1], at: 0)) == ["send 1 1", "send 0 1"])
    #expect(shown(send(&transport, .cbor, [4], on: one)) == ["request 1 1"])
    #expect(shown(send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: two)) == ["send 6 1"])
    #expect(shown(send(&transport, .cbor, [4], on: two)) == ["send 63 6"])
    #expect(shown(send(&transport, .cbor, [4], on: one)) == ["send 63 6"])
    #expect(send(&transport, .cancel, [], on: two).isEmpty)
    #expect(allocate(&transport) == 3)
    #expect(shown(transport.answer([0], to: 1)) == ["send 16 0"])
    #expect(shown(send(&transport, .cbor, [4], on: two)) == ["request 2 1"])
  }

  @Test("the CTAPHID transport drops a message whose next packet does not come within half a second")
  func timeout() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    let packets = HIDReport.packets(.ping, [UInt8](repeating: 1, count: 200), on: channel)
    #expect(transport.deadline == nil)
    #expect(transport.receive(packets[0], at: 1000).isEmpty)
    #expect(transport.receive(packets[1], at: 1499).isEmpty)
    #expect(transport.deadline == 1999)
    #expect(transport.tick(at: 1998, .processing).isEmpty)
    #expect(shown(transport.tick(at: 1999, .processing)) == ["send 63 5"])
    #expect(transport.deadline == nil)
    #expect(transport.receive(packets[2], at: 2000).isEmpty)
    // A late packet is accepted; only the timer notices its absence. The next message can use the channel.
    #expect(transport.receive(packets[0], at: 3000).isEmpty)
    #expect(transport.receive(packets[1], at: 3600).isEmpty)
    #expect(shown(send(&transport, .ping, [5], on: channel, at: 4200)) == ["send 63 5", "send 1 5"])
  }

  @Test("the CTAPHID transport sends a keep-alive message every 100 ms, which says if it waits for a person")
  func keepAlive() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    #expect(shown(send(&transport, .cbor, [4], on: channel, at: 50)) == ["request 1 1"])
    #expect(transport.deadline == 150)
    #expect(transport.tick(at: 149, .processing).isEmpty)
    #expect(shown(transport.tick(at: 150, .processing)) == ["send 59 1"])
    #expect(shown(transport.tick(at: 260, .userPresenceNeeded)) == ["send 59 2"])
    #expect(transport.deadline == 360)
    #expect(shown(transport.answer([0], to: 1)) == ["send 16 0"])
    #expect(transport.deadline == nil)
  }

  @Test("the CTAPHID transport cancels a request after its client's CANCEL, and drops its answer after INIT")
  func cancel() {
    var transport = HIDTransport()
    let channel = allocate(&transport)
    #expect(send(&transport, .cancel, [], on: channel).isEmpty)
    #expect(shown(send(&transport, .cbor, [4], on: channel)) == ["request 1 1"])
    #expect(shown(send(&transport, .cancel, [], on: channel)) == ["cancel 1"])
    #expect(shown(transport.answer([0x2D], to: 1)) == ["send 16 45"])
    #expect(shown(send(&transport, .cbor, [4], on: channel)) == ["request 2 1"])
    #expect(
      shown(send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: channel)) == ["cancel 2", "send 6 1"])
    #expect(shown(send(&transport, .cbor, [4], on: channel)) == ["request 3 1"])
    #expect(transport.answer([0], to: 2).isEmpty)
    #expect(shown(transport.answer([0], to: 3)) == ["send 16 0"])
  }

  @Test("the CTAPHID transport answers random reports without a crash, and then serves a client", arguments: 0..<8)
  func random(seed: Int) {
    print("CTAPHID seed \(seed)")
    var random = SeededGenerator(state: UInt64(seed) &* 0x9E37_79B9 &+ 1)
    var transport = HIDTransport()
    let channel = allocate(&transport)
    var now: UInt64 = 0
    for _ in 0..<(Campaign.isLong ? 1_000_000 : 10_000) {
      now += UInt64.random(in: 0...200, using: &random)
      var report = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
      if Bool.random(using: &random) { report.replaceSubrange(0..<4, with: [0, 0, 0, UInt8(channel)]) }
      if Bool.random(using: &random) {
        report[4] = [0x81, 0x90, 0x86, 0x91, 0, 1, 2].randomElement(using: &random) ?? 0
        report[5] = UInt8.random(in: 0...2, using: &random)
      }
      for output in transport.receive(report, at: now) + transport.tick(at: now, .processing) {
        switch output {
        case .send(let report): #expect(report.count == 64)
        case .request(let number, _, let message):
          #expect((1...HIDReport.messageLimit).contains(message.count))
          if Bool.random(using: &random) { _ = transport.answer([0], to: number) }
        case .cancel: break
        }
      }
    }
    _ = send(&transport, .initialize, [1, 2, 3, 4, 5, 6, 7, 8], on: channel, at: now + 1000)
    #expect(shown(send(&transport, .ping, [5], on: channel, at: now + 1000)) == ["send 1 5"])
  }

  @Test("every command with lengths, channels and sequence numbers at the ends of their ranges is answered or ignored")
  func extremes() {
    let lengths: [UInt16] = [0, 1, 8, 57, 58, 7_608, 7_609, 7_610, 32_767, 32_768, .max]
    let channels: [UInt32] = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, .max - 1, .max]
    func report(_ channel: UInt32, _ head: [UInt8]) -> [UInt8] {
      let start = withUnsafeBytes(of: channel.bigEndian) { Array($0) } + head
      return start + [UInt8](repeating: 0xFF, count: HIDReport.count - start.count)
    }
    let now = UInt64.max / 2
    for last in [UInt32(1), UInt32.max - 2, UInt32.max - 1] {
      for command in UInt8(0)...127 {
        for length in lengths {
          var transport = HIDTransport(lastChannel: last)
          var outputs: [HIDTransport.Output] = []
          for channel in channels {
            let head: [UInt8] = [command | 0x80, UInt8(length >> 8), UInt8(length & 0xFF)]
            outputs += transport.receive(report(channel, head), at: now)
            for sequence: UInt8 in [0, 1, 127] { outputs += transport.receive(report(channel, [sequence]), at: now) }
          }
          for case .send(let report) in outputs { #expect(report.count == HIDReport.count) }
        }
      }
    }
  }
}
