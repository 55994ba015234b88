import Foundation
import Glibc
import Primitives
import ProgramDriver
import ReaderClient
import Testing
import VirtualFinger

@Suite("A reader unit", .timeLimit(.minutes(3)))
struct UnitTests {
  private static let finger = SyntheticFinger(person: 1, finger: .rightIndex)

  private func withImageUnit(
    for peer: String? = nil, idleSeconds: Int = 30, _ body: (VirtualReader, UnitLauncher) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let socket = "\(folder)/reader"
      try await UnitLauncher.with(
        .virtualImage(socket: socket), in: folder, for: peer, idleSeconds: idleSeconds
      ) { process, unit in
        try await body(VirtualReader(kind: .image, socket: socket, process: process, systemBus: nil), unit)
      }
    }
  }

  @Test("a reader unit starts on a connection, and reads fingers like a child process")
  func reads() async throws {
    try await withImageUnit { reader, unit in
      #expect(unit.starts == 0)
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.finger).template)
      #expect(try await reader.identify(Self.finger, [print], nonce(1)).outcome == .match(print.id))
      #expect(unit.starts == 1)
      // It has no capability.
      let pid = try #require(unit.process)
      #expect(try capabilities(of: pid) == "0000000000000000")
    }
  }

  @Test("a reader unit refuses the programs of other users, also root's")
  func wrongPeer() async throws {
    try await withImageUnit(for: "nobody", idleSeconds: 1) { reader, unit in
      try #require(getuid() == 0 || getpwnam("nobody").pointee.pw_uid != getuid())
      let error = await readerError { try await reader.process.readers() }
      guard case .processDied = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // The process ends after it has refused a client.
      #expect(try await eventually { unit.starts > 0 && unit.process == nil })
    }
  }

  @Test("a reader unit is not used if others can write its socket's folder, or another user made the socket")
  func wrongSocket() async throws {
    try await withImageUnit { reader, unit in
      let foreign = ReaderProcess(unit: unit.path, selection: .virtualImage(socket: reader.socket), maker: 4_242)
      for (process, folderMode) in [(foreign, 0o700), (reader.process, 0o777)] as [(ReaderProcess, mode_t)] {
        let folder = String(unit.path.dropLast("/unit".count))
        try #require(chmod(folder, folderMode) == 0)
        let error = await readerError { try await process.readers() }
        guard case .cannotStart(let words) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(words.contains(unit.path))
      }
    }
  }

  @Test("a reader unit ends when idle, not while a reader is open, and the next request starts it again")
  func idle() async throws {
    try await withImageUnit(idleSeconds: 3) { reader, unit in
      _ = try await reader.process.readers()
      #expect(try await eventually { unit.starts == 1 && unit.process == nil })
      try await reader.open()
      #expect(unit.starts == 2)
      try await Task.sleep(for: .milliseconds(4_500))
      let print = enrolled(try await reader.enroll(Self.finger).template)
      #expect(unit.starts == 2)
      try await reader.process.close()
      #expect(try await eventually { unit.process == nil })
      try await reader.open()
      #expect(try await reader.identify(Self.finger, [print], nonce(1)).outcome == .match(print.id))
      #expect(unit.starts == 3)
    }
  }

  @Test("a reader unit that dies in a scan ends it with an error, and is started again by the next request")
  func dies() async throws {
    try await withImageUnit { reader, unit in
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.finger).template)
      let log = EventLog()
      async let error = readerError {
        try await reader.process.identify([print], nonce: nonce(1), observer: log.observe)
      }
      try await log.wait(for: .fingerNeeded)
      kill(try #require(unit.process), SIGKILL)
      guard case .processDied = await error else { return #expect(Bool(false), "the unit has died") }
      try await reader.open()
      #expect(try await reader.identify(Self.finger, [print], nonce(2)).outcome == .match(print.id))
      #expect(unit.starts == 2)
    }
  }

  @Test("a reader unit serves the next client after the client before has closed its reader")
  func inTurn() async throws {
    try await withImageUnit { reader, unit in
      let other = ReaderProcess(
        unit: unit.path, selection: .virtualImage(socket: reader.socket), maker: getuid())
      try await reader.open()
      async let waiting = other.readers()
      try await Task.sleep(for: .milliseconds(300))
      #expect(unit.starts == 1)
      try await reader.process.close()
      #expect(try await waiting.count == 1)
      #expect(unit.starts == 2)
      await other.shutdown()
    }
  }

  @Test("a reader unit gets the system's sleep from its client")
  func sleep() async throws {
    try await withImageUnit { reader, _ in
      try await reader.open()
      let print = enrolled(try await reader.enroll(Self.finger).template)
      try await reader.process.suspend()
      #expect(
        await readerError { try await reader.process.identify([print], nonce: nonce(1)) { _ in } } == .suspended)
      try await reader.process.resume()
      #expect(try await reader.identify(Self.finger, [print], nonce(2)).outcome == .match(print.id))
    }
  }

  @Test("fprintd's reader unit works for the given user, with that user's fingers and files only")
  func userOfFprintd() async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await withFolder { folder in
        try await UnitLauncher.with(.fprintd(device: nil), in: folder, fprintd: fprintd.place) { process, unit in
          let reader = FprintdReaderProcess(fprintd: fprintd, process: process)
          let id = try #require(try await process.readers().first).id
          let other = ReaderUser.named(try #require(ReaderUser.Name("daemon")))
          _ = try await process.open(id, for: other)
          let print = enrolled(try await reader.enroll(.rightIndex).template)
          #expect(access("\(fprintd.templates)/daemon", F_OK) == 0)
          #expect(try await reader.identify(.rightIndex, [print], nonce(1)).outcome == .match(print.id))
          #expect(try await process.storedPrints(knowing: [print]).present == [print.id])
          try await process.close()
          _ = try await process.open(id)
          #expect(try await process.storedPrints(knowing: [print]) == ChipList(present: [], unknown: []))
          // As root the test has this capability to pass on. The unit keeps no other.
          if getuid() == 0 { #expect(try capabilities(of: try #require(unit.process)) == "0000000000000004") }
          try await process.close()
        }
      }
    }
  }

  @Test("the name of a reader's user is refused if it could lead to another folder")
  func names() {
    for bad in ["", ".", "..", "a/b", "/etc", ".hidden", "a\nb", "a b", "a\u{0}b", String(repeating: "a", count: 256)] {
      #expect(ReaderUser.Name(bad) == nil, "\(bad)")
    }
    #expect(ReaderUser(name: "") == .own)
    #expect(ReaderUser(name: "../root") == nil)
    #expect(ReaderUser(name: "alice")?.name == "alice")
  }

  @Test("a reader unit has the socket of its socket unit, for root and the group whorl only")
  func sockets() throws {
    for unit in ReaderAdapter.allCases {
      let file = try repositoryFile("data/systemd/whorl-reader-\(unit.rawValue).socket")
      #expect(file.contains("\nListenStream=\(ReaderUnits.socket(of: unit))\n"))
      #expect(file.contains("\nSocketUser=root\nSocketGroup=whorl\nSocketMode=0660\n"))
    }
  }

  private func repositoryFile(_ path: String) throws -> String {
    let folder = #filePath.components(separatedBy: "/Tests/")[0]
    return String(decoding: try readFile("\(folder)/\(path)"), as: UTF8.self)
  }

  private func capabilities(of pid: pid_t) throws -> String {
    let status = String(decoding: try readFile("/proc/\(pid)/status"), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("CapEff:") })
    return line.dropFirst("CapEff:".count).trimming()
  }
}

extension Substring {
  fileprivate func trimming() -> String { String(drop { $0 == " " || $0 == "\t" }) }
}
