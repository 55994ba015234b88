import Glibc
import Primitives
import ProgramDriver
import ReaderBus
import ReaderClient
import SDBus
import Testing
import VirtualFinger

@Suite("The readers of fprintd's and libfprint's units", .timeLimit(.minutes(3)))
struct UnitReadersTests {
  private static let finger = SyntheticFinger(person: 1, finger: .rightIndex)

  /// A virtual reader behind libfprint's unit and one behind fprintd's.
  private struct Both {
    let readers: AutomaticReader
    let fprintd: UnitLauncher
    let libfprint: UnitLauncher
    let image: VirtualImageReader
  }

  private func withBoth(_ body: (Both) async throws -> Void) async throws {
    try await PrivateFprintd.with(.image) { fprintd in
      try await withFolder { folder in
        let socket = "\(folder)/sensor"
        try await UnitLauncher.with(.fprintd(device: nil), in: folder, name: "fprintd", fprintd: fprintd.place) {
          throughFprintd, fprintdUnit in
          try await UnitLauncher.with(.virtualImage(socket: socket), in: folder, name: "libfprint") { direct, unit in
            try await body(
              Both(
                readers: AutomaticReader { $0 == .fprintd ? throughFprintd : direct }, fprintd: fprintdUnit,
                libfprint: unit, image: VirtualImageReader(socket: socket)))
          }
        }
      }
    }
  }

  /// The readers as the service has them, with the sockets in this folder.
  private func units(_ selection: ReaderSelection, in folder: String) throws -> any FingerprintReader {
    try #require(ReaderUnits(selection, in: folder, madeBy: getuid())).reader()
  }

  @Test("readers of fprintd's unit are listed before libfprint's, and each is opened in its own unit only")
  func listed() async throws {
    try await withBoth { both in
      let listed = try await both.readers.readers()
      #expect(listed.map(\.identity.adapter) == [.fprintd, .libfprint])
      try #require(listed.count == 2)
      #expect(try await both.readers.readers(drivenBy: .libfprint) == [listed[1]])
      #expect(try await both.readers.readers(drivenBy: .fprintd) == [listed[0]])
      for reader in listed {
        #expect(try await both.readers.open(reader.id) == reader)
        try await both.readers.close()
      }
      // A unit ends after its client has closed the reader and the connection.
      #expect(try await eventually { both.fprintd.process == nil && both.libfprint.process == nil })
    }
  }

  @Test("the units of fprintd and libfprint serve the next request after one of them died in a scan")
  func dies() async throws {
    try await withBoth { both in
      let id = try #require(try await both.readers.readers(drivenBy: .libfprint).first).id
      _ = try await both.readers.open(id)
      let log = EventLog()
      async let error = readerError { try await both.readers.enroll(as: .rightIndex, observer: log.observe) }
      try await log.wait(for: .fingerNeeded)
      kill(try #require(both.libfprint.process), SIGKILL)
      guard case .processDied = await error else { return #expect(Bool(false), "the unit has died") }
      try await both.readers.close()
      let throughFprintd = try #require(try await both.readers.readers(drivenBy: .fprintd).first)
      #expect(try await both.readers.open(throughFprintd.id) == throughFprintd)
      try await both.readers.close()
      _ = try await both.readers.open(id)
      try await both.readers.close()
    }
  }

  @Test("readers of one unit are listed if the other unit has no socket, and an error names the missing socket")
  func missing() async throws {
    try await withFolder { folder in
      let readers = try units(.automatic, in: folder)
      for adapter in ReaderAdapter.allCases {
        let error = await readerError { try await readers.readers(drivenBy: adapter) }
        guard case .cannotStart(let words) = error else {
          Issue.record("\(String(describing: error))")
          return
        }
        #expect(words.contains("\(folder)/\(adapter.rawValue)"))
      }
      // The machine has no reader for libfprint's unit.
      try await UnitLauncher.with(.libfprint(device: nil), in: folder, name: "libfprint") { _, _ in
        let direct = try await readers.readers(drivenBy: .libfprint)
        #expect(direct.isEmpty)
        guard case .cannotStart(let words) = await readerError({ try await readers.readers() }) else {
          return #expect(Bool(false), "fprintd's unit has no socket")
        }
        #expect(words.contains("\(folder)/fprintd"))
      }
      let reader = Self.description(id: "libfprint reader", driver: "driver")
      let libfprint = try Liar(at: "\(folder)/libfprint", listing: [reader])
      defer { libfprint.end() }
      #expect(try await readers.readers() == [reader])
      guard case .cannotStart(let missing) = await (readers as? AutomaticReader)?.listingFailure else {
        return #expect(Bool(false), "nothing says that fprintd's readers may be missing")
      }
      #expect(missing.contains("\(folder)/fprintd"))
      await readers.shutdown()
    }
  }

  @Test("a reader unit may not list replayed or another unit's readers, or open a reader not asked for")
  func liar() async throws {
    try await withFolder { folder in
      let good = Self.description(id: "good", driver: "driver")
      var replayed = good
      replayed.nature = .replayed
      let lies = [
        Self.description(id: "fprintd:reader", driver: "driver"),
        Self.description(id: "reader", driver: "fprintd: reader"),
        Self.description(id: "fprintd:reader", driver: "fprintd: reader"), replayed,
      ]
      let libfprint = try Liar(at: "\(folder)/libfprint", listing: lies + [good])
      defer { libfprint.end() }
      let readers = try units(.automatic, in: folder)
      #expect(try await readers.readers(drivenBy: .libfprint) == [good])
      // The unit reports that it has opened the first reader, whichever was requested.
      guard case .processDied = await readerError({ try await readers.open("good") }) else {
        return #expect(Bool(false), "another reader was opened than the one asked for")
      }
      let fprintd = try Liar(at: "\(folder)/fprintd", listing: [good, lies[1]])
      defer { fprintd.end() }
      #expect(try await readers.readers(drivenBy: .fprintd).isEmpty)
      #expect(try await readers.readers() == [good])
      await readers.shutdown()
    }
  }

  @Test("virtual readers have no reader units")
  func selections() {
    for text in ["virtual-image:/a", "virtual-storage:/a"] {
      #expect(ReaderSelection(text).flatMap { ReaderUnits($0) } == nil, "\(text)")
    }
  }

  @Test("a reader unit lists only replayed readers for a recording, and else none of them", arguments: [false, true])
  func recordings(isSelected: Bool) async throws {
    try await withFolder { folder in
      let physical = Self.description(id: "physical", driver: "first")
      let replayed = Self.description(id: "replayed", driver: "second", nature: .replayed)
      let libfprint = try Liar(at: "\(folder)/libfprint", listing: [physical, replayed])
      defer { libfprint.end() }
      let readers = try units(isSelected ? .replay(directory: "/a") : .libfprint(device: nil), in: folder)
      #expect(try await readers.readers() == [isSelected ? replayed : physical])
      await readers.shutdown()
    }
  }

  private static func description(
    id: String, driver: String, nature: ReaderDescription.Nature = .physical
  ) -> ReaderDescription {
    ReaderDescription(
      id: id, name: "reader", identity: ReaderIdentity(driver: driver), scanType: .press, enrollStages: 1,
      features: [.identify, .verify], temperature: .cold, nature: nature)
  }
}

/// A dishonest unit: it lists these readers, and always reports that it has opened the first one.
private struct Liar {
  private let listener: BusListener

  init(at path: String, listing readers: [ReaderDescription]) throws {
    listener = try BusListener(socket: BusDescriptor(taking: UnitLauncher.listen(at: path))) { _ in
      .init(call: { call in
        switch ReaderInterface.Method(rawValue: call.member) {
        case .readers: call.answer(ReaderAnswer.readers(readers).values)
        case .open: call.answer(ReaderAnswer.reader(readers[0]).values)
        default: call.answer()
        }
      })
    }
  }

  func end() { listener.close() }
}
