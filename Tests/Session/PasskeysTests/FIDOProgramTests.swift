import Glibc
import Testing

/// `whorl-fido`, with everything but the kernel and logind.
@Suite("whorl-fido", .serialized)
struct FIDOProgramTests {
  /// A session in front of the screen.
  private static let present = "one active seat user\n"
  private static let report = [UInt8](repeating: 7, count: 64)

  // The numbers of the kernel's uhid.h.
  private static let destroy: UInt8 = 1
  private static let output: UInt8 = 6
  private static let create: UInt8 = 11
  private static let input: UInt8 = 12

  /// A report that a program has written to the device, as the kernel hands it on.
  private static func written(_ report: [UInt8], type: UInt8 = output) -> [UInt8] {
    let data = report + [UInt8](repeating: 0, count: 4_096 - report.count)
    let event = [type, 0, 0, 0] + data + [UInt8(report.count & 255), UInt8(report.count >> 8), 1]
    return event + [UInt8](repeating: 0, count: 4_380 - event.count)
  }

  @Test("whorl-fido makes one FIDO device for the agent of the user in front of the screen")
  func creation() throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      let event = try #require(device.message())
      #expect(event[0] == Self.create)
      #expect(String(decoding: event[4...].prefix { $0 != 0 }, as: UTF8.self) == "Whorl passkeys")
      #expect(String(decoding: event[196...].prefix { $0 != 0 }, as: UTF8.self) == "whorl-\(getuid())")
      let size = Int(event[260])
      #expect(size == 34 && event[261] == 0)
      // The usage page of FIDO: neither a keyboard nor a mouse.
      #expect(Array(event[280...].prefix(5)) == [0x06, 0xD0, 0xF1, 0x09, 0x01])
      agent.send(Self.report)
      #expect(device.message()?.first == Self.input)
    }
  }

  @Test("whorl-fido passes on reports of 64 bytes without the number of the report")
  func reports() throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      _ = device.message()
      agent.send(Self.report)
      let event = try #require(device.message())
      #expect(Array(event[..<6]) == [Self.input, 0, 0, 0, 64, 0] && Array(event[6..<70]) == Self.report)
      for report in [Self.report, [0] + Self.report] {
        device.send(Self.written(report))
        #expect(agent.message() == Self.report)
      }
    }
  }

  @Test("whorl-fido passes only reports of 64 bytes to the agent, and no other event of the device")
  func foreignEvents() throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      _ = device.message()
      for count in [0, 1, 63, 66, 4_096] { device.send(Self.written([UInt8](repeating: 9, count: count))) }
      for type: UInt8 in [0, 2, 3, 4, 5, 9, 13] { device.send(Self.written(Self.report, type: type)) }
      device.send(Self.written(Self.report))
      #expect(agent.message() == Self.report)
      #expect(agent.message(within: 100) == nil)
      // Less than an event: the device is broken.
      device.send([6, 0])
      #expect(agent.ends() && device.ends())
    }
  }

  @Test("whorl-fido drops an agent and its device after a report of a wrong length", arguments: [1, 63, 65, 4_096])
  func foreignReports(_ count: Int) throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      _ = device.message()
      agent.send([UInt8](repeating: 7, count: count))
      #expect(agent.ends())
      #expect(device.message()?.first == Self.destroy)
      #expect(device.ends())
    }
  }

  @Test("whorl-fido disconnects an agent that sends a report before it has a device")
  func early() throws {
    try PretendMachine.with("one seat user\n") { machine in
      let agent = try machine.agent()
      agent.send(Self.report)
      #expect(agent.ends())
    }
  }

  @Test("whorl-fido removes the device of an agent that disconnects")
  func agentGone() throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      _ = device.message()
      agent.leave()
      #expect(device.message()?.first == Self.destroy)
      #expect(device.ends())
    }
  }

  @Test(
    "whorl-fido makes no device before the user is in front of an unlocked screen of this machine",
    arguments: [
      "one seat user\n", "one active user\n", "one active seat user remote\n", "one active seat user locked\n",
      "one active seat user mute\n", "one active seat greeter\n", "one active other-seat user\n",
    ])
  func absent(_ sessions: String) throws {
    try PretendMachine.with(sessions) { machine in
      let agent = try machine.agent()
      machine.signal("c")
      #expect(!machine.makesDevice())
      #expect(agent.message(within: 0) == nil, "the connection is held")
      machine.change(Self.present)
      _ = try machine.device()
    }
  }

  @Test(
    "whorl-fido takes the device away as soon as the session is locked, left or over",
    arguments: [
      "one active seat user locked\n", "one active other-seat user\n", "one seat user\n", "other greeter\n", nil,
    ])
  func left(_ sessions: String?) throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      machine.change(sessions)
      #expect(agent.ends() && device.ends())
      machine.change(Self.present)
      let again = try machine.agent()
      _ = try machine.device()
      #expect(again.message(within: 0) == nil)
    }
  }

  @Test("whorl-fido removes the device before the machine sleeps, and makes none until the machine is awake")
  func sleep() throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      machine.signal("s")
      #expect(agent.ends() && device.ends())
      let again = try machine.agent()
      #expect(!machine.makesDevice())
      machine.signal("w")
      _ = try machine.device()
      #expect(again.message(within: 0) == nil)
    }
  }

  @Test("whorl-fido makes no device if it is started while the machine goes to sleep")
  func asleep() throws {
    try PretendMachine.with(Self.present + "sleeps now\n") { machine in
      let agent = try machine.agent()
      #expect(!machine.makesDevice())
      #expect(agent.message(within: 0) == nil)
    }
  }

  @Test("whorl-fido replaces a user's agent and its device when a new agent of the user connects")
  func later() throws {
    try PretendMachine.with(Self.present) { machine in
      let first = try machine.agent()
      let one = try machine.device()
      let second = try machine.agent()
      #expect(first.ends() && one.ends())
      let two = try machine.device()
      _ = two.message()
      second.send(Self.report)
      #expect(two.message()?.first == Self.input)
    }
  }

  @Test(
    "whorl-fido refuses an agent of a remote session, or of a user not logged in", arguments: ["mine remote\n", nil])
  func refused(_ sessions: String?) throws {
    try PretendMachine.with(sessions) { machine in
      let agent = try machine.agent()
      #expect(agent.ends())
    }
  }

  @Test("an agent or a program that does not read from whorl-fido only loses reports", arguments: [true, false])
  func flooded(_ agentReads: Bool) throws {
    try PretendMachine.with(Self.present) { machine in
      let agent = try machine.agent()
      let device = try machine.device()
      _ = device.message()
      for _ in 0..<2_000 {
        if agentReads { agent.send(Self.report) } else { device.send(Self.written(Self.report)) }
      }
      let slow = agentReads ? device : agent
      var count = 0
      while let message = slow.message(within: 300), !message.isEmpty { count += 1 }
      #expect(count > 0 && count < 2_000)
      agent.send(Self.report)
      #expect(device.message()?.first == Self.input)
      device.send(Self.written(Self.report))
      #expect(agent.message() == Self.report)
    }
  }

  @Test("whorl-fido disconnects an agent if /dev/uhid cannot be opened, and accepts the agent again")
  func noDevice() throws {
    try PretendMachine.with(Self.present) { machine in
      machine.breakDevices()
      for _ in 0..<2 {
        let agent = try machine.agent()
        #expect(agent.ends())
      }
    }
  }

  @Test("whorl-fido disconnects an agent if the kernel does not make its device")
  func refusedDevice() throws {
    try PretendMachine.with(Self.present) { machine in
      machine.refuseDevices()
      let agent = try machine.agent()
      #expect(agent.ends())
    }
  }

  @Test("whorl-fido has devices for 16 users, each named with the user's number, and refuses a 17th user")
  func many() throws {
    try PretendMachine.with(Self.present) { machine in
      for user in 1...16 {
        machine.become(user)
        _ = try machine.agent()
        let event = try #require(try machine.device().message())
        #expect(String(decoding: event[196...].prefix { $0 != 0 }, as: UTF8.self) == "whorl-\(user)")
      }
      machine.become(17)
      let late = try machine.agent()
      #expect(late.ends())
    }
  }

  @Test("whorl-fido does not start without systemd's socket, and ends with the system's message bus")
  func ends() throws {
    try PretendMachine.with(Self.present, hasSocket: false) { #expect($0.status() == 64) }
    try PretendMachine.with(Self.present) { machine in
      machine.signal("x")
      #expect(machine.status() == 69)
    }
  }
}
