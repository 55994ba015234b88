import Foundation
import Introspection
import Primitives
import ReaderBus
import SDBus
import Testing

@Suite("The reader's D-Bus interface")
struct InterfaceTests {
  @Test("the reader's D-Bus interface has the members, signatures and errors in its XML")
  func introspection() throws {
    let read = try IntrospectionReader(of: ReaderInterface.target.interface)
    #expect(read.nodes == [ReaderInterface.target.path])
    #expect(read.interfaces == [ReaderInterface.target.interface])
    var served = ReaderInterface.Method.allCases.reduce(into: [:]) {
      $0["method \($1.rawValue)"] = "\($1.arguments) -> \($1.results)"
    }
    served["signal \(ReaderInterface.scanSignal)"] = "\(ReaderInterface.scanSignalArguments) -> "
    #expect(read.members == served)
    // Every error of a reader is documented.
    let text = try String(
      contentsOf: IntrospectionReader.file(of: ReaderInterface.target.interface), encoding: .utf8)
    for error in errors {
      #expect(text.contains(error.busName.split(separator: ".").last ?? "?"), "\(error.busName) is not documented")
    }
  }

  @Test("the D-Bus interface for a reader's starter has the members and signatures in its XML")
  func starter() throws {
    let read = try IntrospectionReader(of: ReaderStarterInterface.target.interface)
    #expect(read.nodes == [ReaderStarterInterface.target.path])
    #expect(read.interfaces == [ReaderStarterInterface.target.interface])
    let signature = "\(ReaderStarterInterface.connectToBusArguments) -> \(ReaderStarterInterface.connectToBusResults)"
    #expect(read.members == ["method \(ReaderStarterInterface.connectToBus)": signature])
  }

  private var errors: [ReaderError] {
    [
      .absent, .permissionDenied(nil), .permissionDenied("/dev/bus/usb/001/004"), .busy(holder: nil),
      .busy(holder: "fprintd"), .removed, .tooHot, .cancelled, .notSupported, .storageFull, .notOnChip, .duplicate,
      .badTemplate, .suspended, .printsChanged, .looksForAnyFinger, .deletesOnlyAllFingers,
      .processDied("exit status 1"), .cannotStart("why"),
      .fprintdRefused("polkit"), .fprintdUnreachable("no bus"), .fprintdFilesUnreadable(nil),
      .fprintdFilesUnreadable("/var/lib/fprint"), .missedByFprintd("06cb:00bd"), .notLent("polkit"),
      .device("what libfprint says"),
    ]
  }

  @Test("the reader's D-Bus interface transfers every error")
  func errorsRoundTrip() {
    for error in errors { #expect(ReaderError(busName: error.busName, text: error.busText) == error) }
    #expect(Set(errors.map(\.busName)).count == 23)
    #expect(ReaderError(busName: "org.example.Odd", text: "x") == .device("org.example.Odd: x"))
  }

  @Test("the reader's D-Bus interface transfers every event of a scan")
  func events() throws {
    let events: [ScanEvent] =
      [.fingerNeeded, .fingerPresent, .fingerLifted, .stage(completed: 3, of: 5)]
      + [.general, .tooShort, .centerFinger, .removeFinger, .tooFast].map { .retry($0) }
    for event in events {
      let read = try #require(ScanEvent.reading(event.busValues(call: 7)))
      #expect(read == (7, event))
    }
    #expect(ScanEvent.reading([.uint64(1), .string("other"), .uint32(0), .uint32(0), .string("")]) == nil)
  }

  @Test("the reader's D-Bus interface transfers a reader with and without its optional fields")
  func descriptions() {
    let plain = ReaderDescription(
      id: "virtual_image:0", name: "Virtual", identity: ReaderIdentity(driver: "virtual_image"), scanType: .swipe,
      enrollStages: 5, features: [.capture, .verify], temperature: .cold, nature: .virtual)
    let usb = ReaderDescription(
      id: "synaptics:1-9", name: "Prometheus",
      identity: ReaderIdentity(driver: "synaptics", vendor: 0x06CB, product: 0xBD, serial: "c087", fixedPort: "1-9"),
      scanType: .press, enrollStages: 8, features: Set(ReaderDescription.Feature.allCases), temperature: .hot,
      nature: .physical)
    for reader in [plain, usb] { #expect((try? ReaderDescription(bus: reader.busValue)) == reader) }
    var entries = usb.busValue.asDictionary ?? [:]
    entries["nature"] = nil
    #expect((try? ReaderDescription(bus: .dictionary(entries))) == nil)
  }

  @Test("the reader's D-Bus interface refuses a match without a print, and another method's answer")
  func answers() {
    let identify = ReaderRequest.identify([], nonce(1))
    #expect(
      ReaderAnswer(to: identify, [.bytes([1]), .string("match"), .bytes([]), .string(""), .uint64(1)]) == nil)
    #expect(
      ReaderAnswer(to: identify, [.bytes([1]), .string("no-match"), .bytes([2]), .string(""), .uint64(1)]) == nil)
    #expect(ReaderAnswer(to: .enroll(nil), []) == nil)
    #expect(ReaderAnswer(to: .readers, [.bytes([1])]) == nil)
  }

  @Test("the reader's D-Bus interface accepts the longest serial number of USB: 126 characters of three bytes")
  func longSerial() {
    let serial = String(repeating: "\u{20AC}", count: 126)
    let reader = ReaderDescription(
      id: "reader", name: "name", identity: ReaderIdentity(driver: "driver", serial: serial),
      scanType: .press, enrollStages: 1, features: [], temperature: .cold, nature: .virtual)
    #expect((try? ReaderDescription(bus: reader.busValue))?.identity.serial == serial)
  }

  @Test("the reader's D-Bus interface refuses lists, templates and texts that are longer than any reader's")
  func limits() {
    func reader(_ count: Int) -> BusValue {
      ReaderDescription(
        id: "reader", name: String(repeating: "n", count: count), identity: ReaderIdentity(driver: "driver"),
        scanType: .press, enrollStages: 1, features: [], temperature: .cold, nature: .virtual
      ).busValue
    }
    func list(_ count: Int) -> [BusValue] { [.array(of: "a{sv}", Array(repeating: reader(1), count: count))] }
    func template(_ count: Int) -> [BusValue] { [.bytes(Array(repeating: 1, count: count))] }
    #expect(ReaderAnswer(to: .readers, list(ReaderAnswer.mostReaders)) != nil)
    #expect(ReaderAnswer(to: .readers, list(ReaderAnswer.mostReaders + 1)) == nil)
    #expect(ReaderAnswer(to: .enroll(nil), template(ReaderAnswer.largestTemplate)) != nil)
    #expect(ReaderAnswer(to: .enroll(nil), template(ReaderAnswer.largestTemplate + 1)) == nil)
    #expect((try? ReaderDescription(bus: reader(ReaderDescription.longestText))) != nil)
    #expect((try? ReaderDescription(bus: reader(ReaderDescription.longestText + 1))) == nil)
  }
}
