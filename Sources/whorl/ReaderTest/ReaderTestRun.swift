import Fingerprint
import Synchronization
import Vault

/// How one step ended.
enum StepOutcome {
  case passed(String)
  case skipped(String)
  case failed(Failure)
}

/// The steps of `reader test` on one open reader; holds the print that the test enrolled.
final class ReaderTestRun: Sendable {
  private let reader: any FingerprintReader
  private let description: ReaderDescription
  private let suspendDuring: ReaderTestStep?
  private let print = Mutex<EnrolledPrint?>(nil)
  private let line = Mutex(ProgressLine())

  init(reader: any FingerprintReader, description: ReaderDescription, suspendDuring: ReaderTestStep?) {
    self.reader = reader
    self.description = description
    self.suspendDuring = suspendDuring
  }

  func run(_ step: ReaderTestStep) async -> StepOutcome {
    let outcome: StepOutcome
    do throws(ReaderError) {
      outcome = try await perform(step)
    } catch .notSupported {
      outcome = .skipped("not supported")
    } catch {
      outcome = .failed(Failure(error))
    }
    line.withLock { $0.finish() }
    return outcome
  }

  private func perform(_ step: ReaderTestStep) async throws(ReaderError) -> StepOutcome {
    if let feature = step.feature, !description.features.contains(feature) { return .skipped("not supported") }
    guard step != .clear else {
      try await reader.clearStorage()
      return .passed("every print erased")
    }
    guard step != .enroll else { return try await enroll() }
    guard let print = print.withLock({ $0 }) else { return .skipped("no print was enrolled") }
    switch step {
    case .list:
      let list = try await reader.storedPrints(knowing: [print])
      guard list.present.contains(print.id) else { return .failed(Failure(.notOnChip)) }
      return .passed("the print is on the chip, with \(list.unknown.count) other")
    case .delete:
      try await reader.delete(print.template)
      self.print.withLock { $0 = nil }
      return .passed("the print is deleted")
    default:
      return try await scan(step, print)
    }
  }

  /// Takes the print off the chip when no step got to it.
  func forgetPrint() async {
    guard description.features.contains(.storageDelete), let print = print.withLock({ $0 }) else { return }
    try? await reader.delete(print.template)
  }

  private func enroll() async throws(ReaderError) -> StepOutcome {
    let word = description.scanType == .swipe ? "Swipe" : "Touch"
    say("\(word) \(theReader) with one finger, \(description.enrollStages) times")
    // The finger least likely to be enrolled in earnest, for a reader that keeps its prints by finger.
    let template = try await reader.enroll(as: .leftLittle) { self.show($0) }
    print.withLock { $0 = EnrolledPrint(id: EnrolmentID(bytes: Self.random()), template: template) }
    return .passed("\(description.enrollStages) stages")
  }

  /// Verifies or identifies, again as long as the reader only says that it could not read the finger.
  private func scan(_ step: ReaderTestStep, _ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    let word = description.scanType == .swipe ? "Swipe" : "Touch"
    var suspends = suspendDuring == step
    for _ in 1...10 {
      say("\(word) \(theReader) with the same finger, to \(step.rawValue)")
      let answer: ScanAnswer
      let nonce = ScanNonce(bytes: Self.random())
      do throws(ReaderError) {
        answer = try await armed(step, print, nonce, suspending: suspends)
      } catch .suspended where suspends {
        // The driver gives a scan up for the sleep: it has to be armed again.
        suspends = false
        continue
      }
      let slept = suspendDuring == step ? ", with a suspend inside" : ""
      guard answer.nonce == nonce else { return .failed(Failure(VaultError.touchRefused)) }
      switch answer.outcome {
      case .match(print.id): return .passed("match\(slept)")
      case .match, .noMatch:
        return .failed(
          Failure(.refused, "the finger did not match", name: "LAError.authenticationFailed", advice: "try again"))
      case .retry(let reason): say(Prompt.retry(reason))
      }
      suspends = false
    }
    return .failed(Failure(.tryAgain, "no touch could be read", advice: "clean the reader and try again"))
  }

  /// One scan; where that was asked for, with a suspend and a resume inside it. The suspend follows the scan at once,
  /// and does not overtake it, because a recorded finger does not wait.
  private func armed(
    _ step: ReaderTestStep, _ print: EnrolledPrint, _ nonce: ScanNonce, suspending: Bool
  ) async throws(ReaderError) -> ScanAnswer {
    let observer: ScanObserver = { self.show($0) }
    let scan = Task.immediate { [reader] () -> Result<ScanAnswer, ReaderError> in
      do throws(ReaderError) {
        if step == .verify {
          return .success(try await reader.verify(print, nonce: nonce, observer: observer))
        }
        return .success(try await reader.identify([print], nonce: nonce, observer: observer))
      } catch {
        return .failure(error)
      }
    }
    return try await withTaskCancellationHandler { () async -> Result<ScanAnswer, ReaderError> in
      guard suspending else { return await scan.value }
      do throws(ReaderError) {
        try await reader.suspend()
        try await reader.resume()
      } catch {
        scan.cancel()
        _ = await scan.value
        return .failure(error)
      }
      return await scan.value
    } onCancel: {
      scan.cancel()
    }.get()
  }

  private var theReader: String { "the reader\(Spoken.nature(description.nature))" }

  private func show(_ event: ScanEvent) {
    switch event {
    case .stage(let completed, let count): line.withLock { $0.tell(Prompt.stage(completed: completed, of: count)) }
    case .retry(let reason): line.withLock { $0.tell(Prompt.retry(reason)) }
    case .fingerNeeded, .fingerPresent, .fingerLifted: break
    }
  }

  private func say(_ text: String) {
    line.withLock { $0.show(text) }
  }

  private static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

extension ReaderTestStep {
  /// What a driver must be able to do for the step; nil where every driver can.
  fileprivate var feature: ReaderDescription.Feature? {
    switch self {
    case .clear: .storageClear
    case .enroll: nil
    case .list: .storageList
    case .verify: .verify
    case .identify: .identify
    case .delete: .storageDelete
    }
  }
}
