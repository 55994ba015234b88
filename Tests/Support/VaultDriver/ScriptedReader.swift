package import Primitives
internal import Synchronization

/// A fake reader whose scans end as a test says, and otherwise match. For tests of the vault without fingers; tests of
/// readers use libfprint's virtual ones.
package final class ScriptedReader: FingerprintReader {
  package enum Step: Sendable {
    case noMatch
    case retry
    case fails(ReaderError)
  }

  private let steps = Mutex<[Step]>([])
  private let description: ReaderDescription
  /// The fingers that fprintd has enrolled, for a reader of fprintd.
  private let fingers: [FprintdPrint]

  package init(serial: String = "1") {
    description = ReaderDescription(
      id: "scripted", name: "scripted reader",
      identity: ReaderIdentity(driver: "scripted", vendor: 0x1234, product: 0x5678, serial: serial),
      scanType: .press, enrollStages: 1, features: [.identify, .verify], temperature: .cold, nature: .physical)
    fingers = []
  }

  /// A reader of fprintd.
  package init(fprintd fingers: [FprintdPrint], nature: ReaderDescription.Nature) {
    description = ReaderDescription(
      id: "fprintd:scripted", name: "scripted", identity: ReaderIdentity(fprintdName: "scripted"), scanType: .press,
      enrollStages: 1, features: [.identify, .verify, .storage, .storageList, .storageDelete], temperature: .cold,
      nature: nature)
    self.fingers = fingers
  }

  /// The outcomes of the next scans. After them every finger matches.
  package func next(_ steps: Step...) { self.steps.withLock { $0 += steps } }

  package func readers() async throws(ReaderError) -> [ReaderDescription] { [description] }
  package func open(_ id: String, for user: ReaderUser) async throws(ReaderError) -> ReaderDescription { description }
  package func prepare() async throws(ReaderError) -> ReaderDescription { description }
  package func close() async throws(ReaderError) {}

  package func enroll(as finger: Finger?, observer: @escaping ScanObserver) async throws(ReaderError) -> Template {
    observer(.fingerNeeded)
    return Template(bytes: (0..<64).map { _ in UInt8.random(in: 0...255) })
  }

  package func identify(_ prints: [EnrolledPrint], nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    guard !Task.isCancelled else { throw .cancelled }
    observer(.fingerNeeded)
    observer(.fingerPresent)
    observer(.fingerLifted)
    let step = steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    let outcome: ScanOutcome
    switch step {
    case .noMatch: outcome = .noMatch
    case .retry: outcome = .retry(.general)
    case .fails(let error): throw error
    // Match the last print, which during an enrolment is the new one.
    case nil: outcome = prints.last.map { .match($0.id) } ?? .noMatch
    }
    return ScanAnswer(nonce: nonce, outcome: outcome, finishedAt: ScanClock.now())
  }

  package func verify(_ print: EnrolledPrint, nonce: ScanNonce, observer: @escaping ScanObserver)
    async throws(ReaderError) -> ScanAnswer
  {
    try await identify([print], nonce: nonce, observer: observer)
  }

  package func storedPrints(knowing prints: [EnrolledPrint]) async throws(ReaderError) -> ChipList {
    guard description.identity.adapter == .fprintd else { throw .notSupported }
    let present = prints.filter { known in fingers.contains { $0.template == known.template } }
    let unknown = fingers.map(\.template).filter { template in !present.contains { $0.template == template } }
    return ChipList(present: Set(present.map(\.id)), unknown: unknown)
  }

  package func delete(_ template: Template) async throws(ReaderError) {}
  package func clearStorage() async throws(ReaderError) {}
  package func suspend() async throws(ReaderError) {}
  package func resume() async throws(ReaderError) {}
  package func shutdown() async {}
}
