import Fingerprint

/// The result of `reader test` on standard output, a step at a time.
struct ReaderTestReport {
  enum Form {
    case human, tap, json
  }

  private let form: Form
  private var reader: ReaderDescription
  private var steps: [Step] = []

  private struct Step: Encodable {
    var step: String
    var result: String
    var detail: String
    var seconds: Double
  }

  private struct Whole: Encodable {
    var reader: ReaderDescription
    var steps: [Step]
    var passed: Bool
  }

  init(_ form: Form, _ reader: ReaderDescription, _ steps: [ReaderTestStep]) throws(Failure) {
    self.form = form
    self.reader = reader
    switch form {
    case .human: try StandardOutput.line(Spoken.reader(reader))
    case .tap: try StandardOutput.write("TAP version 13\n1..\(steps.count)\n# \(Spoken.reader(reader))\n")
    case .json: break
    }
  }

  mutating func add(_ step: ReaderTestStep, _ outcome: StepOutcome, _ duration: Duration) throws(Failure) {
    let (result, detail) =
      switch outcome {
      case .passed(let detail): ("ok", detail)
      case .skipped(let why): ("skipped", why)
      case .failed(let problem): ("failed", problem.words)
      }
    let seconds = Double(duration / .milliseconds(1)).rounded() / 1000
    steps.append(Step(step: step.rawValue, result: result, detail: detail, seconds: seconds))
    let words = Visible.text(detail)
    switch form {
    case .human:
      let name = step.rawValue + String(repeating: " ", count: 9 - step.rawValue.count)
      let line = result == "skipped" ? "\(name) skipped: \(words)" : "\(name) \(result), \(seconds) s: \(words)"
      try StandardOutput.line(line)
    case .tap:
      let number = "\(steps.count) - \(step.rawValue)"
      switch outcome {
      case .passed: try StandardOutput.line("ok \(number) # \(words), \(seconds) s")
      case .skipped: try StandardOutput.line("ok \(number) # SKIP \(words)")
      case .failed: try StandardOutput.write("not ok \(number)\n# \(words), \(seconds) s\n")
      }
    case .json: break
    }
  }

  func finish() throws(Failure) {
    guard form == .json else { return }
    try JSON.print(Whole(reader: reader, steps: steps, passed: !steps.contains { $0.result == "failed" }))
  }
}
