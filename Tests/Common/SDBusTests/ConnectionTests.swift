import Dispatch
import Glibc
import SDBus
import Testing

@Suite("A connection")
struct ConnectionTests {
  @Test("a D-Bus connection carries every type of value in both directions")
  func values() async throws {
    let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
    defer { bus.close() }
    let sent: [BusValue] = [
      .boolean(true), .byte(7), .uint16(65_535), .int32(-5), .uint32(.max), .int64(.min), .uint64(.max),
      .string("Zeigefinger ✓"), .bytes([0, 1, 255]), .bytes([]), .array(of: "s", []),
      .array(of: "(say)", [.structure([.string("a"), .bytes([1])]), .structure([.string("b"), .bytes([])])]),
      .dictionary(["name": .string("x"), "ids": .array(of: "q", [.uint16(1), .uint16(2)])]), .dictionary([:]),
      .variant(.uint32(3)),
    ]
    let received = try await bus.client.call(target, "Echo", sent)
    #expect(received.map(\.signature).joined() == "byqiuxtsayayasa(say)a{sv}a{sv}v")
    #expect("\(received.dropLast(3))" == "\(sent.dropLast(3))")
    #expect(received[12].asDictionary?["name"]?.asString == "x")
    #expect(received[12].asDictionary?["ids"]?.asArray?.compactMap(\.asUInt16) == [1, 2])
    #expect(received[13].asDictionary?.isEmpty == true)
  }

  @Test("a D-Bus connection delivers the path, interface, member and signature of a call")
  func header() async throws {
    let bus = try Loopback(
      server: .init(call: {
        $0.answer([.string($0.path), .string($0.interface), .string($0.member), .string($0.signature)])
      }))
    defer { bus.close() }
    let answer = try await bus.client.call(target, "Ask", [.uint32(1), .bytes([])])
    #expect(answer.compactMap(\.asString) == ["/org/whorl/Test", "org.whorl.Test1", "Ask", "uay"])
  }

  @Test("a D-Bus connection passes file descriptors, of which each side owns its own copy")
  func descriptors() async throws {
    let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
    defer { bus.close() }
    let mine = BusDescriptor(taking: open("/proc/self/comm", O_RDONLY | O_CLOEXEC))
    let answer = try await bus.client.call(target, "Echo", [.descriptor(mine)])
    let theirs = try #require(answer.first?.asDescriptor)
    #expect(theirs.rawValue != mine.rawValue)
    #expect(fcntl(theirs.rawValue, F_GETFD) == FD_CLOEXEC)
    var byte: UInt8 = 0
    #expect(read(theirs.rawValue, &byte, 1) == 1)
  }

  @Test("a D-Bus connection sends calls in the order in which tasks on the bus loop made them")
  func order() async throws {
    let seen = Collected<UInt32>()
    let bus = try Loopback(
      server: .init(call: { call in
        if let number = call.arguments.first?.asUInt32 { seen.append(number) }
        call.answer()
      }))
    defer { bus.close() }
    let numbers = 0..<2_000 as Range<UInt32>
    try await Caller(bus.client).call(numbers)
    #expect(seen.elements == Array(numbers))
  }

  /// Makes calls from the loop, as a reader's client does.
  private actor Caller {
    nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }
    private let connection: BusConnection

    init(_ connection: BusConnection) { self.connection = connection }

    func call(_ numbers: Range<UInt32>) async throws {
      let calls = numbers.map { number in
        Task.immediate { _ = try await connection.call(target, "Step", [.uint32(number)]) }
      }
      for call in calls { try await call.value }
    }
  }

  @Test("a D-Bus connection delivers signals in order, and before an answer that was sent after them")
  func signals() async throws {
    let seen = Collected<UInt32>()
    let bus = try Loopback(
      client: .init(signal: { if let number = $0.arguments.first?.asUInt32 { seen.append(number) } }),
      server: .init(call: { call in
        for number in 0..<100 as Range<UInt32> { call.connection.emit(target, "Step", [.uint32(number)]) }
        call.answer()
      }))
    defer { bus.close() }
    _ = try await bus.client.call(target, "Run")
    #expect(seen.elements == Array(0..<100))
  }

  // With a task executor preference, other jobs run on the loop between the steps of a call. An answer must not be
  // handled before the call waits for it.
  @Test(
    "a D-Bus connection ends every call of tasks with an executor preference, also cancelled calls",
    .timeLimit(.minutes(1)))
  func preferredExecutor() async throws {
    let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
    defer { bus.close() }
    let executor = OneThread()
    let answers = await withTaskGroup(of: UInt32?.self) { group in
      for number in 0..<2_000 as Range<UInt32> {
        group.addTask(executorPreference: executor) {
          let call = Task(executorPreference: executor) { try await bus.client.call(target, "Echo", [.uint32(number)]) }
          if number % 7 == 0 { call.cancel() }
          return try? await call.value.first?.asUInt32
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers.count == 2_000)
    let answered = Set(answers.compactMap { $0 })
    #expect(answered.isSuperset(of: (0..<2_000 as Range<UInt32>).filter { $0 % 7 != 0 }))
  }

  @Test("a D-Bus connection throws the peer's errors under their names")
  func errors() async throws {
    let bus = try Loopback(server: .init(call: { $0.fail("org.whorl.Test1.Error.Busy", "fprintd") }))
    defer { bus.close() }
    await #expect(throws: BusError.remote(name: "org.whorl.Test1.Error.Busy", message: "fprintd")) {
      _ = try await bus.client.call(target, "Ask")
    }
  }

  @Test("a D-Bus error carries the arguments after its text, also if the text is empty")
  func errorDetails() async throws {
    let details: [BusValue] = [
      .int64(-3), .double(0.5), .array(of: "s", [.string("left")]), .dictionary(["name": .bytes([1, 2])]),
    ]
    let bus = try Loopback(
      server: .init(call: { $0.fail("org.whorl.Test1.Error.Lost", $0.member == "Say" ? "text" : "", details: details) })
    )
    defer { bus.close() }
    for (member, text) in [("Say", "text"), ("Hint", "")] {
      await #expect(
        throws: BusError.remote(name: "org.whorl.Test1.Error.Lost", message: text, details: details)
      ) {
        _ = try await bus.client.call(target, member)
      }
    }
  }

  @Test("a D-Bus connection accepts a message that costs exactly the limit, and no larger one")
  func costs() async throws {
    let values: [BusValue] = [
      .string("text"), .bytes([1, 2, 3]), .array(of: "(sv)", [.structure([.string("a"), .variant(.double(1))])]),
      .dictionary(["key": .array(of: "s", []), "other": .boolean(true)]), .objectPath("/a"),
    ]
    let cost = values.cost
    for (limit, isAccepted) in [(cost, true), (cost - 1, false)] {
      var limits = BusLimits()
      limits.messageBytes = limit
      let bus = try Loopback(limits: limits, server: .init(call: { $0.answer() }))
      defer { bus.close() }
      let answer = try? await bus.client.call(target, "Take", values)
      #expect((answer != nil) == isAccepted)
    }
  }

  @Test("a D-Bus connection refuses text that a D-Bus string cannot hold, instead of truncating it")
  func nulInText() async throws {
    let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
    defer { bus.close() }
    await #expect(throws: BusError.malformed) { _ = try await bus.client.call(target, "Echo", [.string("a\0b")]) }
    #expect(try await bus.client.call(target, "Echo", [.string("a")]) == [.string("a")])
  }

  @Test("a D-Bus connection answers a call with an error if the handler drops the call")
  func dropped() async throws {
    let bus = try Loopback(server: .init(call: { _ in }))
    defer { bus.close() }
    await #expect(throws: BusError.self) { _ = try await bus.client.call(target, "Ask") }
  }

  @Test("a D-Bus connection delivers answers in any order to the right callers")
  func interleaved() async throws {
    let held = Collected<BusCall>()
    let bus = try Loopback(
      server: .init(call: { call in
        held.append(call)
        if held.elements.count == 20 { for call in held.elements.reversed() { call.answer(call.arguments) } }
      }))
    defer { bus.close() }
    try await withThrowingTaskGroup { group in
      for number in 0..<20 as Range<UInt32> {
        group.addTask {
          let answer = try await bus.client.call(target, "Ask", [.uint32(number)])
          #expect(answer.first?.asUInt32 == number)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("a D-Bus connection fails a cancelled call at once and drops the late answer")
  func cancellation() async throws {
    let held = Collected<BusCall>()
    let bus = try Loopback(server: .init(call: { $0.member == "Wait" ? held.append($0) : $0.answer() }))
    defer { bus.close() }
    let waiting = Task { try await bus.client.call(target, "Wait") }
    #expect(try await eventually { held.elements.count == 1 })
    waiting.cancel()
    await #expect(throws: BusError.cancelled) { _ = try await waiting.value }
    held.elements.first?.answer([.string("late")])
    _ = try await bus.client.call(target, "Again")
  }

  @Test("a D-Bus connection fails all waiting calls when the peer disconnects, and reports its end once")
  func disconnection() async throws {
    let held = Collected<BusCall>()
    let ends = Collected<Bool>()
    let bus = try Loopback(
      client: .init(closed: { ends.append(true) }), server: .init(call: { held.append($0) }))
    let waiting = (0..<5).map { _ in Task { try await bus.client.call(target, "Wait") } }
    #expect(try await eventually { held.elements.count == 5 })
    bus.server.close()
    for call in waiting {
      await #expect(throws: BusError.disconnected) { _ = try await call.value }
    }
    #expect(ends.elements.count == 1)
    await #expect(throws: BusError.notSent) { _ = try await bus.client.call(target, "Ask") }
    bus.close()
  }

  @Test("a D-Bus connection reports a call as not sent if the peer has gone, also if the loop has not noticed")
  func unsentCall() async {
    // In a new process: a child that another test starts meanwhile has a copy of the socket until it runs its program.
    await #expect(processExitsWith: .success) {
      let bus = try Loopback(server: .init(call: { $0.answer() }))
      // Wait for the end of the handshake: messages sent before it are queued in this process.
      _ = try await bus.client.call(target, "Ask")
      let isQueued = DispatchSemaphore(value: 0)
      BusLoop.shared.post { isQueued.wait() }
      bus.server.close()
      let answer = await withCheckedContinuation { answered in
        bus.client.call(target, "Ask", []) { answered.resume(returning: $0) }
        isQueued.signal()
      }
      exit(answer == .failure(.notSent) ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test("a D-Bus connection keeps a call's time limit while all threads of the cooperative pool are blocked")
  func limitWithoutPool() async {
    // In a new process, because the tests of this one need the pool.
    await #expect(processExitsWith: .success) {
      let held = Collected<BusCall>()
      let bus = try Loopback(server: .init(call: { $0.member == "Wait" ? held.append($0) : $0.answer() }))
      _ = try await bus.client.call(target, "Ask")
      // A call that needs the pool never ends.
      alarm(30)
      for _ in 0..<sysconf(Int32(_SC_NPROCESSORS_ONLN)) * 4 { Task { blockThread(seconds: 60) } }
      let results = Collected<BusError?>()
      Task(executorPreference: OneThread()) {
        for member in ["Ask", "Wait"] {
          let limit = Duration.milliseconds(member == "Ask" ? 20_000 : 50)
          do throws(BusError) {
            _ = try await bus.client.call(target, member, within: limit)
            results.append(nil)
          } catch {
            results.append(error)
          }
        }
      }
      while results.elements.count < 2 { usleep(10_000) }
      exit(results.elements == [nil, .system(ETIMEDOUT)] ? EXIT_SUCCESS : EXIT_FAILURE)
    }
  }

  @Test("fifty D-Bus connections leave no descriptor open")
  func flat() async {
    // In a new process, because other tests open files at the same time.
    await #expect(processExitsWith: .success) {
      try await oneExchange()
      // The first sleep opens the descriptors that the runtime needs for timers, and keeps them.
      try await Task.sleep(for: .milliseconds(50))
      let before = try openDescriptors()
      for _ in 0..<50 { try await oneExchange() }
      // The last connection before the count may still have been closing.
      #expect(try await eventually { try openDescriptors() <= before })
    }
  }
}

private func oneExchange() async throws {
  let bus = try Loopback(server: .init(call: { $0.answer($0.arguments) }))
  let file = BusDescriptor(taking: open("/proc/self/comm", O_RDONLY | O_CLOEXEC))
  _ = try await bus.client.call(target, "Ask", [.descriptor(file)])
  bus.close()
}

private func blockThread(seconds: UInt32) { sleep(seconds) }

/// Runs tasks on its own thread, outside the thread pool.
private final class OneThread: TaskExecutor {
  private let queue = DispatchQueue(label: "test")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
