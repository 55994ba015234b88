internal import Primitives
internal import Prompts
internal import SecretModel
import Settings

/// Steps for failures and disturbances, which a secret store must be able to rely on as well as on a match.
extension ReaderTestRun {
  /// Another finger must not match.
  func wrongFinger(_ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with ANOTHER finger than before")
      switch try await outcome(of: arm(print)) {
      case .noMatch: return .passed("no match")
      case .match:
        return .failed(
          Failure(
            .refused, "another finger was taken for the enrolled one", advice: "report it: no secret is safe here"))
      case .retry(let reason): say(PromptText.retry(reason))
      }
    }
    return .failed(.unreadable)
  }

  /// An unreadable touch must be reported as a retry and not as a non-match, which counts as a failure.
  func badTouch(_ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    for _ in 1...5 {
      say("\(touchWord) \(theReader) badly with the same finger: with the very tip of it, and off at once")
      switch try await outcome(of: arm(print)) {
      case .retry(let reason): return .passed("retry: \(reason.rawValue)")
      case .noMatch: return .passed("no match, and not a retry: on this reader a bad touch counts as a wrong finger")
      case .match: say("That was read well.")
      }
    }
    return .skipped("every touch was read")
  }

  /// A cancelled scan must end soon, and the next one can be armed at once.
  func cancelInScan() async throws(ReaderError) -> StepOutcome {
    let limit = Duration.seconds(5)
    var slowest = Duration.zero
    for _ in 1...2 {
      say("Leave \(theReader) alone")
      let scan = enrolledPrint.map { arm($0) } ?? armEnrolment()
      await scan.armed()
      let start = ContinuousClock.now
      scan.cancel()
      switch await scan.ended(within: limit) {
      case .failure(.cancelled): slowest = max(slowest, ContinuousClock.now - start)
      case .failure(let error): throw error
      case .success: return .failed(Failure(.inputOutput, "a cancelled scan gave an answer", advice: "report it"))
      case nil:
        return .failed(Failure(.tryAgain, "a cancelled scan did not end within 5 seconds", advice: "report it"))
      }
    }
    guard !Task.isCancelled else { throw .cancelled }
    return .passed("ended within \(Self.seconds(slowest)) s, twice")
  }

  /// After a sleep during a scan, the finger must still be recognized, whatever the driver does with the scan.
  func suspendInScan(_ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    var scan: ReaderTestScan? = arm(print)
    await scan?.armed()
    if let scan { try await sleepThrough(scan) }
    var gaveUp = false
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with the same finger, after its sleep")
      do throws(ReaderError) {
        let outcome = try await outcome(of: scan ?? arm(print))
        switch outcome {
        case .match: return .passed(gaveUp ? "the scan was given up, and the next one matched" : "the scan went on")
        case .noMatch: return .failed(.unmatched)
        case .retry(let reason): say(PromptText.retry(reason))
        }
      } catch .suspended where !gaveUp {
        gaveUp = true
      }
      scan = nil
    }
    return .failed(.unreadable)
  }

  /// Measures how often the right finger is rejected.
  func manyTouches(_ print: EnrolledPrint) async throws(ReaderError) -> StepOutcome {
    var (rejected, retries) = (0, 0)
    var times: [Duration] = []
    var number = 1
    while number <= touches {
      say("\(touchWord) \(theReader) with the same finger, \(number) of \(touches)")
      let start = ContinuousClock.now
      switch try await outcome(of: arm(print)) {
      case .match: times.append(ContinuousClock.now - start)
      case .noMatch: rejected += 1
      case .retry:
        retries += 1
        guard retries <= 5 * touches else { return .failed(.unreadable) }
        continue
      }
      number += 1
    }
    let words = "\(rejected) of \(touches) touches falsely rejected, \(Spoken.plural(retries, "retry", "retries"))"
    guard !times.isEmpty else { return .failed(Failure(.refused, words, advice: "enrol the finger anew")) }
    let median = times.sorted()[times.count / 2]
    return .passed("\(words), \(Self.seconds(median)) s from asking to a match (median)")
  }

  /// Unplugging the reader during a scan must end the scan with `removed`, and the reader must work when it is back.
  func unplug() async throws(ReaderError) -> StepOutcome {
    let scan = enrolledPrint.map { arm($0) } ?? armEnrolment()
    await scan.armed()
    say("Unplug \(theReader) now")
    switch await scan.ended(within: .seconds(60)) {
    case .failure(.removed): break
    case .failure(let error): throw error
    case .success: return .failed(Failure(.inputOutput, "a scan without a reader gave an answer", advice: "report it"))
    case nil: return .skipped("it was not unplugged within a minute")
    }
    try? await reader.close()
    await reader.shutdown()
    say("Plug \(theReader) in again")
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .seconds(60) {
      guard !Task.isCancelled else { throw .cancelled }
      let readers = (try? await reader.readers()) ?? []
      if let back = readers.first(where: { $0.identity == description.identity }) {
        _ = try await reader.open(back.id)
        return .passed("the scan ended as unplugged, and the reader was back")
      }
      try? await Pause.wait(for: .milliseconds(200))
    }
    return .failed(Failure(.unavailable, "the reader did not come back", advice: "attach it"))
  }

  /// An enrolment, for a scan without a print of this test.
  private func armEnrolment() -> ReaderTestScan {
    ReaderTestScan(show: { _ in }) { [reader] observer throws(ReaderError) in
      _ = try await reader.enroll(as: .leftLittle, observer: observer)
      return nil
    }
  }

  static func seconds(_ duration: Duration) -> Double {
    Double(duration / .milliseconds(1)).rounded() / 1000
  }
}
