import Glibc
import Primitives
import Processes
import ReaderClient
import Testing
import VirtualFinger

@Suite("Driving a virtual reader with storage")
struct StorageReaderTests {
  @Test("a virtual reader with storage has the prints inserted, gives the scans it is told, and can be unplugged")
  func story() async throws {
    try await withSocket { socket in
      let program = try #require(HelperPlaces.reader.locate(), "whorl-reader is built with the tests")
      let process = ReaderProcess(program: program, selection: .virtualStorage(socket: socket))
      let chip = VirtualStorageReader(socket: socket)
      _ = try await process.open(try #require(try await process.readers().first).id)

      try chip.insert("anna")
      try chip.insert("bert")
      #expect(try await process.storedPrints(knowing: []).unknown.count == 2)
      #expect(Set(try chip.list()) == ["anna", "bert"])
      try chip.remove("bert")
      #expect(try await process.storedPrints(knowing: []).unknown.count == 1)
      #expect(try chip.list() == ["anna"])

      let anna = EnrolledPrint(
        id: EnrolmentID(bytes: Array(repeating: 1, count: 16)),
        template: try #require(try await process.storedPrints(knowing: []).unknown.first))
      let nonce = ScanNonce(bytes: Array(repeating: 2, count: 16))
      try chip.scan("anna")
      #expect(try await process.identify([anna], nonce: nonce) { _ in }.outcome == .match(anna.id))
      try chip.retry(.centerFinger)
      #expect(try await process.identify([anna], nonce: nonce) { _ in }.outcome == .retry(.centerFinger))
      try chip.unplug()
      await #expect(throws: ReaderError.removed) {
        _ = try await process.identify([anna], nonce: nonce) { _ in }
      }
      await process.shutdown()
    }
  }

  private func withSocket(_ body: (String) async throws -> Void) async throws {
    var template = Array("/tmp/whorl-finger-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      unlink("\(folder)/reader")
      rmdir(folder)
    }
    try await body("\(folder)/reader")
  }
}
