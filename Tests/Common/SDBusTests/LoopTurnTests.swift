import Glibc
import SDBus
import Synchronization
import Testing

/// Acts as the loop's own thread: polls, and becomes the loop again.
private final class OwnThread: Sendable {
  let turn: LoopTurn
  private let mayEndPoll = Mutex(false)
  private let outcome = Mutex<Bool?>(nil)

  init(rest: UInt64) async throws {
    turn = LoopTurn(rest: rest)
    Thread.start {
      self.turn.take()
      guard let loans = self.turn.willPoll() else {
        Issue.record("nobody has borrowed the loop")
        return
      }
      while !self.mayEndPoll.withLock({ $0 }) { usleep(100) }
      let wasNotBorrowed = self.turn.hasPolled(since: loans)
      self.outcome.withLock { $0 = wasNotBorrowed }
      #expect(self.turn.isCurrent)
    }
    #expect(try await eventually { self.isPolling })
  }

  private var isPolling: Bool {
    guard turn.borrow() else { return false }
    turn.giveBack(mayRest: true)
    return true
  }

  /// Ends its poll, as a message does.
  func endPoll() { mayEndPoll.withLock { $0 = true } }

  /// Whether the loop was never borrowed while it polled; nil until it is the loop again.
  var wasNotBorrowed: Bool? { outcome.withLock { $0 } }
}

private enum Thread {
  static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    // transfer full: the new thread takes over this reference
    let box = Unmanaged.passRetained(Body(body)).toOpaque()
    let failure = pthread_create(
      &thread, nil,
      { argument in
        // transfer full: balances the retain above
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, box)
    precondition(failure == 0)
    pthread_detach(thread)
  }

  private final class Body: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}

@Suite("Which thread runs the bus loop")
struct LoopTurnTests {
  /// Longer than any test runs, in microseconds.
  private static let forever: UInt64 = 3_600_000_000

  @Test("the bus loop is lent to one thread at a time, while it polls and not while it works")
  func lending() async throws {
    let own = try await OwnThread(rest: Self.forever)
    try #require(own.turn.borrow())
    #expect(own.turn.isCurrent && own.turn.isBorrowed)
    #expect(!own.turn.borrow())
    own.turn.giveBack(mayRest: true)
    #expect(!own.turn.isCurrent && !own.turn.isBorrowed)
    own.endPoll()
    #expect(try await eventually { own.wasNotBorrowed != nil })
    #expect(!own.turn.borrow(), "its own thread works")
  }

  @Test("the bus loop's own thread learns after its poll that the loop was lent meanwhile")
  func returned() async throws {
    let own = try await OwnThread(rest: Self.forever)
    own.endPoll()
    #expect(try await eventually { own.wasNotBorrowed == false })
  }

  @Test("the bus loop's own thread pauses after a loan, and takes the loop back when it is called")
  func resting() async throws {
    let own = try await OwnThread(rest: Self.forever)
    try #require(own.turn.borrow())
    own.endPoll()
    usleep(20_000)
    own.turn.giveBack(mayRest: true)
    usleep(20_000)
    #expect(own.wasNotBorrowed == nil)
    // It can be lent again meanwhile.
    try #require(own.turn.borrow())
    #expect(!own.turn.callOwnThread(), "another thread is the loop")
    own.turn.giveBack(mayRest: true)
    #expect(own.turn.callOwnThread())
    #expect(try await eventually { own.wasNotBorrowed == false })
  }

  @Test("the bus loop's own thread takes the loop back at once if somebody waits for an answer")
  func awaited() async throws {
    let own = try await OwnThread(rest: Self.forever)
    try #require(own.turn.borrow())
    own.endPoll()
    usleep(20_000)
    own.turn.giveBack(mayRest: false)
    #expect(!own.turn.borrow(), "its own thread is called, and has the next turn")
    #expect(try await eventually { own.wasNotBorrowed == false })
  }

  @Test("the bus loop's own thread sleeps through a long loan, and takes the loop back afterwards")
  func sleeping() async throws {
    let own = try await OwnThread(rest: 1_000)
    try #require(own.turn.borrow())
    own.endPoll()
    usleep(50_000)
    #expect(own.wasNotBorrowed == nil)
    own.turn.giveBack(mayRest: true)
    #expect(try await eventually { own.wasNotBorrowed == false })
  }

  @Test("the bus loop's own thread takes the loop back by itself after its pause")
  func byItself() async throws {
    let own = try await OwnThread(rest: 50_000)
    try #require(own.turn.borrow())
    own.endPoll()
    usleep(10_000)
    own.turn.giveBack(mayRest: true)
    #expect(try await eventually { own.wasNotBorrowed == false })
  }
}
