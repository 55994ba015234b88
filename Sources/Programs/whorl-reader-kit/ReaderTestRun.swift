// The steps of `whorl-reader-kit test` on an open reader. Those in which something goes wrong on purpose are in
// `ReaderTestTrouble.swift`.

import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import Settings
import Synchronization
import Whorl

/// The result of one step.
enum StepOutcome {
  case passed(String)
  /// The step passed, and this is the picture it was for.
  case captured(FingerPicture)
  case skipped(String)
  case failed(Failure)
}

/// The steps of `test` on one open reader; holds the print that the test enrolled.
final class ReaderTestRun: Sendable {
  let reader: any FingerprintReader
  let description: ReaderDescription
  /// The number of touches in the step `touches`.
  let touches: Int
  /// The file for the picture of a finger.
  let image: NewFile?
  private let suspendDuring: ReaderTestStep?
  private let print = Mutex<EnrolledPrint?>(nil)
  private let line = Mutex(ProgressLine.onStandardError())

  init(
    reader: any FingerprintReader, description: ReaderDescription, touches: Int, suspendDuring: ReaderTestStep?,
    image: NewFile?
  ) {
    self.reader = reader
    self.description = description
    self.touches = touches
    self.image = image
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
    if let feature = step.feature, !description.features.contains(feature) {
      // With --image a missing picture is a failure, not a skipped step.
      if step == .capture, image != nil { return .failed(Failure(.notSupported)) }
      return .skipped("not supported")
    }
    switch step {
    case .clear:
      try await reader.clearStorage()
      return .passed("every print erased")
    case .capture: return try await capture()
    case .enroll: return try await enroll()
    case .list: return try await list()
    case .cancel: return try await cancelInScan()
    case .unplug: return try await unplug()
    default: break
    }
    guard let print = enrolledPrint else {
      return step == .identify ? try await identifyNobody() : .skipped("no print was enrolled")
    }
    switch step {
    case .delete:
      try await reader.delete(print.template)
      self.print.withLock { $0 = nil }
      return .passed("the print is deleted")
    case .wrong: return try await wrongFinger(print)
    case .retry: return try await badTouch(print)
    case .suspend: return try await suspendInScan(print)
    case .touches: return try await manyTouches(print)
    default: return try await scan(step, print)
    }
  }

  var enrolledPrint: EnrolledPrint? { print.withLock { $0 } }

  /// Deletes the test's print from the chip, if no step has done so.
  func forgetPrint() async {
    guard description.features.contains(.storageDelete), let print = enrolledPrint else { return }
    try? await reader.delete(print.template)
  }

  private func enroll() async throws(ReaderError) -> StepOutcome {
    say("\(touchWord) \(theReader) with one finger, \(description.enrollStages) times")
    // The finger that is least likely to be enrolled already, for readers that keep prints by finger.
    let template = try await reader.enroll(as: .leftLittle) { self.show($0) }
    print.withLock { $0 = EnrolledPrint(id: EnrolmentID(bytes: Self.random()), template: template) }
    return .passed("\(description.enrollStages) stages")
  }

  /// Lists the prints on the chip. A print that the test has enrolled must be among them.
  private func list() async throws(ReaderError) -> StepOutcome {
    let print = enrolledPrint
    let list = try await reader.storedPrints(knowing: print.map { [$0] } ?? [])
    guard let print else { return .passed("\(Spoken.plural(list.unknown.count, "print")) on the chip") }
    guard list.present.contains(print.id) else { return .failed(Failure(.notOnChip)) }
    return .passed("the print is on the chip, with \(list.unknown.count) other")
  }

  /// Identifies a finger while none is enrolled: it must match nothing.
  private func identifyNobody() async throws(ReaderError) -> StepOutcome {
    guard description.identity.adapter.opensDevice else {
      return .skipped("fprintd identifies only enrolled fingers")
    }
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with one finger, while none is enrolled")
      do throws(ReaderError) {
        switch try await outcome(of: armIdentification(among: [])) {
        case .noMatch: return .passed("nobody is known")
        case .match:
          return .failed(
            Failure(.refused, "the reader matched a finger although none was enrolled", advice: "report it"))
        case .retry(let reason): say(PromptText.retry(reason))
        }
      } catch .notOnChip {
        // Some chips report a missing print instead of no match.
        return .passed("nobody is known")
      }
    }
    return .failed(.unreadable)
  }

  /// Verifies or identifies. Repeats this while the reader could not read the finger.
  private func scan(_ step: ReaderTestStep, _ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    var suspends = suspendDuring == step
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with the same finger, to \(step.rawValue)")
      let outcome: ScanOutcome
      do throws(ReaderError) {
        let scan = arm(print, verifying: step == .verify)
        // At once after arming: a recorded finger does not wait.
        if suspends { try await sleepThrough(scan) }
        outcome = try await self.outcome(of: scan)
      } catch .suspended where suspends {
        // The driver ends scans before sleep: arm it again.
        suspends = false
        continue
      }
      let slept = suspendDuring == step ? ", with a suspend inside" : ""
      switch outcome {
      case .match(print.id): return .passed("match\(slept)")
      case .match, .noMatch: return .failed(.unmatched)
      case .retry(let reason): say(PromptText.retry(reason))
      }
      suspends = false
    }
    return .failed(.unreadable)
  }

  // MARK: Scans

  /// Arms a scan for the print: by identification if the driver supports it, else by verification.
  func arm(_ print: EnrolledPrint, verifying: Bool? = nil) -> ReaderTestScan {
    guard verifying ?? !description.features.contains(.identify) else { return armIdentification(among: [print]) }
    return arm { [reader] nonce, observer throws(ReaderError) in
      try await reader.verify(print, nonce: nonce, observer: observer)
    }
  }

  private func armIdentification(among prints: [EnrolledPrint]) -> ReaderTestScan {
    arm { [reader] nonce, observer throws(ReaderError) in
      try await reader.identify(prints, nonce: nonce, observer: observer)
    }
  }

  private func arm(
    _ scan: @escaping @Sendable (ScanNonce, @escaping ScanObserver) async throws(ReaderError) -> ScanAnswer
  ) -> ReaderTestScan {
    let nonce = ScanNonce(bytes: Self.random())
    return ReaderTestScan(show: { self.show($0) }) { observer throws(ReaderError) in
      let answer = try await scan(nonce, observer)
      guard answer.nonce == nonce else { throw .device("an answer to another question") }
      return answer
    }
  }

  func outcome(of scan: ReaderTestScan) async throws(ReaderError) -> ScanOutcome {
    guard let answer = try await scan.answer() else { throw .device("a scan without an answer") }
    return answer.outcome
  }

  /// Suspends and resumes the reader during the armed scan.
  func sleepThrough(_ scan: ReaderTestScan) async throws(ReaderError) {
    do throws(ReaderError) {
      try await reader.suspend()
      try await reader.resume()
    } catch {
      scan.cancel()
      _ = try? await scan.answer()
      throw error
    }
  }

  // MARK: Words

  var touchWord: String { description.scanType == .swipe ? "Swipe" : "Touch" }
  var theReader: String { "the reader\(Spoken.nature(description.nature))" }

  func show(_ event: ScanEvent) {
    switch event {
    case .stage(let completed, let count): line.withLock { $0.tell(PromptText.stage(completed: completed, of: count)) }
    case .retry(let reason): line.withLock { $0.tell(PromptText.retry(reason)) }
    case .fingerNeeded, .fingerPossible, .fingerPresent, .fingerLifted: break
    }
  }

  func say(_ text: String) {
    line.withLock { $0.show(text) }
  }

  /// Prints a line that stays on the screen.
  func note(_ text: String) {
    line.withLock { $0.keep(text) }
  }

  private static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}

extension Failure {
  static let unmatched = Failure(
    .refused, "the finger did not match", name: "LAError.authenticationFailed", advice: "try again")
  static let unreadable = Failure(.tryAgain, "no touch could be read", advice: "clean the reader and try again")
}

/// The step that takes the picture of a finger.
extension ReaderTestRun {
  func capture() async throws(ReaderError) -> StepOutcome {
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with one finger, to take its picture")
      switch try await reader.capture(includingImage: image != nil, observer: { self.show($0) }) {
      case .picture(let picture):
        guard let image, let file = picture.file else { return .captured(picture) }
        do throws(Failure) {
          try image.write(mode: 0o600) { file.write(to: $0) }
        } catch {
          return .failed(error)
        }
        note("\(image.path) holds YOUR FINGERPRINT: keep it to yourself.")
        return .captured(picture)
      case .retry: continue
      }
    }
    return .failed(.unreadable)
  }
}

extension PictureFile {
  /// Writes the whole file. Returns the `errno` of a failure.
  fileprivate func write(to descriptor: Int32) -> Int32? {
    do {
      try sealed.secret().write(to: descriptor)
      return nil
    } catch WriteError.system(let code) {
      return code
    } catch SealedFile.Failure.system(let code) {
      return code
    } catch {
      return EIO
    }
  }
}

extension Spoken {
  /// "288 by 118 pixels at 500 dpi (14.6 by 6.0 mm), 31 minutiae, contrast 201 of 255: good".
  static func picture(_ picture: FingerPicture) -> String {
    let verdict = [picture.quality.rawValue] + picture.flaws.map(flaw)
    return """
      \(picture.width) by \(picture.height) pixels\(scale(of: picture)), \
      \(plural(picture.minutiae, "minutia", "minutiae")), contrast \(picture.contrast) of 255: \
      \(verdict.joined(separator: ", "))
      """
  }

  private static func scale(of picture: FingerPicture) -> String {
    guard let resolution = picture.resolution, let dotsPerInch = picture.dotsPerInch, resolution > 0 else {
      return " (the driver tells no resolution)"
    }
    func millimetres(_ pixels: Int) -> String {
      let tenths = (pixels * 10_000 + resolution / 2) / resolution
      return "\(tenths / 10).\(tenths % 10)"
    }
    return " at \(dotsPerInch) dpi (\(millimetres(picture.width)) by \(millimetres(picture.height)) mm)"
  }

  private static func flaw(_ flaw: PictureFlaw) -> String {
    switch flaw {
    case .tooFewMinutiae: "too few minutiae for the matcher, which needs 10"
    case .fewMinutiae: "few minutiae to match by"
    case .noise: "more minutiae than a finger has: noise, or dirt on the reader"
    case .lowContrast: "little contrast"
    }
  }
}
