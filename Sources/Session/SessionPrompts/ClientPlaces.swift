internal import Glibc
internal import SecretModel

/// The limits on a server's client connections: per process, per program and in total. At a limit the least recently
/// used connection without a running call is closed, so that no program locks out the others.
package struct ClientPlaces<ID: Hashable & Sendable>: Sendable {
  package struct Limits: Sendable {
    package var process: Int
    package var program: Int
    package var all: Int

    package init(process: Int, program: Int, all: Int) {
      (self.process, self.program, self.all) = (process, program, all)
    }
  }

  package enum Answer: Equatable, Sendable {
    /// The connection has a place. The other one has lost its place to it, and has to be closed.
    case admitted(insteadOf: ID?)
    /// There is no place. The text says which program has the places.
    case refused(String)
  }

  private struct Place {
    let client: ClientProgram
    var calls = 0
    var lastUse: UInt64
  }

  /// Programs as the kernel identifies them, and each sandboxed program of a portal.
  private struct Program: Hashable {
    let file: ProgramFile
    let application: String?

    init(_ client: ClientProgram) { (file, application) = (client.file, client.application) }
  }

  private let limits: Limits
  private var places: [ID: Place] = [:]
  private var uses: UInt64 = 0

  package init(_ limits: Limits) { self.limits = limits }

  package mutating func admit(_ id: ID, _ client: ClientProgram) -> Answer {
    let program = Program(client)
    let ofProcess = places.filter { $0.value.client.process == client.process }
    let ofProgram = places.filter { Program($0.value.client) == program }
    if ofProcess.count >= limits.process {
      guard let idle = Self.idle(ofProcess) else {
        return .refused("\(client.words) has \(limits.process) connections, the most of a process")
      }
      return admit(id, client, insteadOf: idle)
    }
    if ofProgram.count >= limits.program {
      guard let idle = Self.idle(ofProgram) else {
        return .refused("\(client.words) and other processes of its kind have \(limits.program) connections, the most")
      }
      return admit(id, client, insteadOf: idle)
    }
    guard places.count >= limits.all else { return admit(id, client, insteadOf: nil) }
    let counts = places.values.reduce(into: [Program: Int]()) { $0[Program($1.client), default: 0] += 1 }
    func count(_ place: Place) -> Int { counts[Program(place.client)] ?? 0 }
    // Of those without a call: one of the program that has the most places.
    let idle = places.filter { $0.value.calls == 0 }
    if let most = idle.values.map(count).max(), let first = Self.idle(idle.filter { count($0.value) == most }) {
      return admit(id, client, insteadOf: first)
    }
    // All have calls. The program with the most loses its last one, unless it is the one that asks.
    let last = places.max { (count($0.value), $0.value.lastUse) < (count($1.value), $1.value.lastUse) }
    guard let last, count(last.value) > ofProgram.count + 1 else {
      let holder = last.map { "; \($0.value.client.words) has \(count($0.value)) of them" } ?? ""
      return .refused("\(limits.all) connections are open\(holder)")
    }
    return admit(id, client, insteadOf: last.key)
  }

  /// Notes that a call of the connection begins.
  package mutating func begin(_ id: ID) {
    uses += 1
    places[id]?.calls += 1
    places[id]?.lastUse = uses
  }

  /// Notes that a call has ended.
  package mutating func end(_ id: ID) { places[id]?.calls -= 1 }

  /// Frees the place of a connection that has ended.
  package mutating func leave(_ id: ID) { places[id] = nil }

  private mutating func admit(_ id: ID, _ client: ClientProgram, insteadOf other: ID?) -> Answer {
    if let other { places[other] = nil }
    uses += 1
    places[id] = Place(client: client, lastUse: uses)
    return .admitted(insteadOf: other)
  }

  /// The least recently used connection without a running call.
  private static func idle(_ places: [ID: Place]) -> ID? {
    places.filter { $0.value.calls == 0 }.min { $0.value.lastUse < $1.value.lastUse }?.key
  }
}
