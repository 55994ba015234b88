import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import SDBus
import Testing
import VirtualFinger

@Suite("The life of a reader process", .serialized)
struct ProcessLifeTests {
  @Test("a reader process that is killed during a scan ends it with a definite error, and the next is new")
  func killed() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      let first = try #require(processes(with: reader.socket).first)
      kill(first, SIGKILL)
      #expect(await error == .processDied("killed by signal 9 (Killed)"))

      try await reader.open()
      // The virtual chip was in the memory of the process.
      try reader.storage.insert("a")
      #expect(try await reader.identify("a", [print], nonce(2)).outcome == .match(print.id))
      #expect(try #require(processes(with: reader.socket).first) != first)
    }
  }

  @Test("a reader process that dies while idle is replaced silently, and leaves no zombie")
  func killedIdle() async throws {
    try await VirtualReader.with(.storage) { reader in
      _ = try await reader.process.readers()
      let first = try #require(processes(with: reader.socket).first)
      kill(first, SIGKILL)
      #expect(try await eventually { kill(first, 0) != 0 })
      #expect(try await reader.process.readers().count == 1)
    }
  }

  @Test("a reader process outlives the thread of the first call, which ran the bus loop")
  func threadOfFirstCall() async {
    await #expect(processExitsWith: .success) {
      try await VirtualReader.with(.storage) { reader in
        let process = reader.process
        // The loop's own thread waits for messages, so that the new thread can borrow the loop.
        try await Task.sleep(for: .milliseconds(100))
        await withCheckedContinuation { ended in
          let body = ThreadBody {
            WaitingThread.run { _ = try? await process.readers() }
          } ended: {
            ended.resume()
          }
          body.start()
        }
        let first = try #require(processes(with: reader.socket).first)
        try await Task.sleep(for: .milliseconds(200))
        #expect(try await process.readers().count == 1)
        #expect(processes(with: reader.socket) == [first])
      }
    }
  }

  @Test("cancelling a scan that waits for a finger is immediate, and the reader stays open")
  func cancelledWaiting() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      let pid = processes(with: reader.socket)
      let log = EventLog()
      let scan = Task { try await reader.process.identify([print], nonce: nonce(1), observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      let start = ContinuousClock.now
      scan.cancel()
      #expect(await readerError { try await scan.value } == .cancelled)
      #expect(ContinuousClock.now - start < .seconds(2))
      #expect(try await reader.identify("a", [print], nonce(2)).outcome == .match(print.id))
      #expect(processes(with: reader.socket) == pid)
    }
  }

  @Test("an enrolment can be cancelled between its stages")
  func cancelledEnrolment() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let log = EventLog()
      let enrolment = Task { try await reader.process.enroll(observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      try reader.storage.scan("a")
      try await log.wait(for: .stage(completed: 1, of: 5))
      enrolment.cancel()
      #expect(await readerError { try await enrolment.value } == .cancelled)
      _ = try await reader.enroll("b")
    }
  }

  @Test("a cancelled scan is answered at once even if the reader continues it, and the reader process is ended")
  func stubborn() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let print = enrolled(try await reader.enroll("a").template)
      try reader.storage.setCancellable(false)
      let first = processes(with: reader.socket)
      let log = EventLog()
      let scan = Task { try await reader.process.identify([print], nonce: nonce(1), observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      let start = ContinuousClock.now
      scan.cancel()
      #expect(await readerError { try await scan.value } == .cancelled)
      #expect(ContinuousClock.now - start < .seconds(2))
      // The next call waits for the end of the process and starts another.
      try await reader.open()
      #expect(ContinuousClock.now - start > .milliseconds(450))
      #expect(processes(with: reader.socket) != first)
      try reader.storage.insert("a")
      #expect(try await reader.identify("a", [print], nonce(2)).outcome == .match(print.id))
    }
  }

  @Test("a call of a cancelled task is not sent to a reader, but the task can still close the reader")
  func cancelledBefore() async throws {
    try await VirtualReader.with(.storage) { reader in
      try await reader.open()
      let task = Task {
        while !Task.isCancelled { await Task.yield() }
        let error = await readerError { try await reader.process.readers() }
        try await reader.process.close()
        return error
      }
      task.cancel()
      #expect(try await task.value == .cancelled)
      // It can be opened, so it was closed.
      try await reader.open()
    }
  }

  @Test("a reader process ends with its client, by shutdown and by deallocation")
  func ends() async throws {
    let program = try readerProgram()
    try await withTemporaryFolder { folder in
      let selection = ReaderSelection.virtualStorage(socket: "\(folder)/reader")
      var reader: ReaderProcess? = ReaderProcess(program: program, selection: selection)
      _ = try await reader?.readers()
      #expect(processes(with: folder).count == 1)
      await reader?.shutdown()
      #expect(processes(with: folder).isEmpty)
      _ = try await reader?.readers()
      #expect(processes(with: folder).count == 1)
      reader = nil
      #expect(try await eventually { processes(with: folder).isEmpty })
    }
  }

  @Test("a missing reader program is reported")
  func noProgram() async {
    let reader = ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic)
    #expect(
      await readerError { try await reader.readers() }
        == .cannotStart("/nonexistent/whorl-reader: No such file or directory"))
  }

  @Test("a reader process does not get the descriptor by which its program was checked")
  func programDescriptor() async throws {
    try await VirtualReader.with(.storage) { reader in
      _ = try await reader.process.readers()
      let process = try #require(processes(with: reader.socket).first)
      let descriptors = "/proc/\(process)/fd"
      let open = try folderEntries(descriptors).compactMap { symbolicLink("\(descriptors)/\($0)") }
      #expect(!open.isEmpty)
      #expect(!open.contains { $0.hasSuffix("/whorl-reader") }, "\(open)")
    }
  }

  @Test("a program that is started as a reader but is none is reported with how it ended")
  func notAReader() async {
    let reader = ReaderProcess(program: "/bin/false", selection: .automatic)
    #expect(await readerError { try await reader.readers() } == .processDied("exit status 1"))
  }

  @Test("fifty starts of a reader process leave no descriptor, child or zombie behind")
  func flat() async {
    // In a new process, because other tests open files at the same time.
    await #expect(processExitsWith: .success) {
      func once() async throws {
        try await VirtualReader.with(.storage) { reader in
          try await reader.open()
          try await reader.process.close()
        }
      }
      try await once()
      let before = try openDescriptors()
      for _ in 0..<50 { try await once() }
      #expect(try await eventually { try openDescriptors() <= before })
      #expect(waitpid(-1, nil, WNOHANG) == -1)
    }
  }
}

private func symbolicLink(_ path: String) -> String? {
  let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
    count = max(0, buffer.baseAddress.map { readlink(path, $0, buffer.count) } ?? 0)
  }
  return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
}

/// A thread that ends after its body.
private final class ThreadBody: Sendable {
  private let body: @Sendable () -> Void
  private let ended: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void, ended: @escaping @Sendable () -> Void) {
    self.body = body
    self.ended = ended
  }

  func start() {
    var thread = pthread_t()
    // transfer full: the new thread takes over this reference
    let this = Unmanaged.passRetained(self).toOpaque()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        // transfer full: balances the retain above
        let this = Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue()
        this.body()
        this.ended()
        return nil
      }, this)
    precondition(failure == 0, "no thread")
    pthread_detach(thread)
  }
}
