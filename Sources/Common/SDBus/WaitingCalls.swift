/// The calls of this side that wait for an answer, by the cookie of the message.
struct WaitingCalls {
  typealias Answer = Result<[BusValue], BusError>

  struct Call {
    let destination: String?
    /// Identifies the call to the cancellation handler, which does not know the cookie. Nil for a call that cannot be
    /// cancelled.
    let ticket: UInt64?
    let onCancel: (@Sendable () -> Void)?
    /// Called once, on the loop.
    let answered: @Sendable (Answer) -> Void
  }

  private var calls: [UInt64: Call] = [:]
  private var lastTicket: UInt64 = 0

  subscript(cookie: UInt64) -> Call? { calls[cookie] }

  mutating func add(_ call: Call, _ cookie: UInt64) { calls[cookie] = call }

  mutating func nextTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  func call(ofTicket ticket: UInt64) -> (cookie: UInt64, call: Call)? {
    calls.first { $0.value.ticket == ticket }.map { ($0.key, $0.value) }
  }

  mutating func remove(_ cookie: UInt64) -> Call? { calls.removeValue(forKey: cookie) }

  mutating func removeAll() -> [Call] {
    defer { calls = [:] }
    return Array(calls.values)
  }
}
