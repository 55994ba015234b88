import Glibc
import Primitives
import ProgramDriver
import Synchronization
import Testing

@testable import Processes

@Suite("What is undone when a signal ends the program")
struct UnfinishedTests {
  private final class Steps: Sendable {
    private let steps = Mutex<[String]>([])
    var all: [String] { steps.withLock { $0 } }
    func add(_ step: String) { steps.withLock { $0.append(step) } }
    func waits(for step: String) { while !all.contains(step) { usleep(1_000) } }
  }

  private func start() throws -> ChildProcess {
    let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
    defer { close(input) }
    return try ChildProcess(
      HelperProgram(at: "/bin/sleep"), arguments: ["sleep", "1000"], environment: [], standardInput: input)
  }

  @Test("a signal between a program's start and its entry waits for the entry, and then ends the program")
  func between() async throws {
    let (unfinished, steps) = (Unfinished(), Steps())
    startThread {
      steps.waits(for: "started")
      unfinished.undoAll()
      steps.add("undone")
    }
    let (child, _) = try unfinished.start {
      let child = try start()
      steps.add("started")
      // Longer than the other thread needs to undo what is entered already.
      usleep(200_000)
      #expect(!child.hasEnded && !steps.all.contains("undone"))
      return child
    }
    steps.waits(for: "undone")
    #expect(child.hasEnded)
  }

  @Test("nothing is made after a signal's undoing has begun, and what was made last is undone first")
  func after() async throws {
    let (unfinished, steps) = (Unfinished(), Steps())
    for name in ["folder", "daemon", "finished"] {
      let (_, entry) = unfinished.make({ steps.add("make \(name)") }, undo: { _ in steps.add("undo \(name)") })
      if name == "finished" { unfinished.forget(entry) }
    }
    unfinished.undoAll()
    startThread {
      steps.add("tries")
      _ = unfinished.make({ steps.add("make late") }, undo: { _ in })
    }
    steps.waits(for: "tries")
    usleep(100_000)
    #expect(
      steps.all == ["make folder", "make daemon", "make finished", "undo daemon", "undo folder", "tries"])
  }

  @Test("what could not be made is not undone")
  func failed() throws {
    let (unfinished, steps) = (Unfinished(), Steps())
    #expect(throws: CancellationError.self) {
      try unfinished.make { () throws(CancellationError) in
        throw CancellationError()
      } undo: { _ in
        steps.add("undo")
      }
    }
    unfinished.undoAll()
    #expect(steps.all.isEmpty)
  }
}
