// The results of `whorl-reader-kit test`: line by line, as TAP, JUnit or JSON, and as a page for a report.

import ArgumentParser
import CommandBase
import Glibc
import Primitives
internal import Prompts
internal import SecretModel
import Settings

/// The results of `test`, step by step.
struct ReaderTestReport {
  enum Form: String, CaseIterable, ExpressibleByArgument {
    case human, tap, junit, json
  }

  struct Step: Encodable {
    enum Result: String, Encodable {
      case ok, skipped, failed
    }

    var step: String
    var result: Result
    var detail: String
    var seconds: Double
    /// Only for the step `capture`.
    var picture: Picture?
  }

  /// Measurements of a picture of a finger.
  struct Picture: Encodable {
    /// In pixels.
    var width: Int
    /// In pixels.
    var height: Int
    /// Nil if the driver does not tell.
    var dotsPerInch: Int?
    var minutiae: Int
    var contrast: Int
    var quality: PictureQuality
    var flaws: [PictureFlaw]

    init(_ picture: FingerPicture) {
      (width, height, dotsPerInch) = (picture.width, picture.height, picture.dotsPerInch)
      (minutiae, contrast) = (picture.minutiae, picture.contrast)
      (quality, flaws) = (picture.quality, picture.flaws)
    }
  }

  private struct Whole: Encodable {
    var reader: ReaderDescription
    var adapter: String
    var steps: [Step]
    var passed: Bool
  }

  let reader: ReaderDescription
  private(set) var steps: [Step] = []
  /// Nil to print nothing.
  private let form: Form?

  init(_ form: Form?, _ reader: ReaderDescription, _ steps: [ReaderTestStep]) throws(Failure) {
    self.form = form
    self.reader = reader
    switch form {
    case .human: try StandardOutput.line(Spoken.reader(reader))
    case .tap: try StandardOutput.write("TAP version 13\n1..\(steps.count)\n# \(Spoken.reader(reader))\n")
    case .junit, .json, nil: break
    }
  }

  var passed: Bool { !steps.contains { $0.result == .failed } }

  mutating func add(_ step: ReaderTestStep, _ outcome: StepOutcome, _ duration: Duration) throws(Failure) {
    let (result, detail): (Step.Result, String) =
      switch outcome {
      case .passed(let detail): (.ok, detail)
      case .captured(let picture): (.ok, Spoken.picture(picture))
      case .skipped(let why): (.skipped, why)
      case .failed(let problem): (.failed, problem.words)
      }
    let seconds = ReaderTestRun.seconds(duration)
    let picture = if case .captured(let picture) = outcome { Picture(picture) } else { nil as Picture? }
    steps.append(Step(step: step.rawValue, result: result, detail: detail, seconds: seconds, picture: picture))
    let words = Visible.text(detail)
    switch form {
    case .human:
      let name = step.rawValue + String(repeating: " ", count: 9 - step.rawValue.count)
      let line = result == .skipped ? "\(name) skipped: \(words)" : "\(name) \(result.rawValue), \(seconds) s: \(words)"
      try StandardOutput.line(line)
    case .tap:
      let number = "\(steps.count) - \(step.rawValue)"
      switch outcome {
      case .passed, .captured: try StandardOutput.line("ok \(number) # \(words), \(seconds) s")
      case .skipped: try StandardOutput.line("ok \(number) # SKIP \(words)")
      case .failed: try StandardOutput.write("not ok \(number)\n# \(words), \(seconds) s\n")
      }
    case .junit, .json, nil: break
    }
  }

  func finish() throws(Failure) {
    switch form {
    case .human, .tap, nil: break
    case .junit: try StandardOutput.write(junit)
    case .json:
      try JSON.print(
        Whole(reader: reader, adapter: reader.identity.adapter.rawValue, steps: steps, passed: passed))
    }
  }

  // MARK: JUnit

  private var junit: String {
    let name = Self.attribute(Spoken.reader(reader))
    let time = (steps.map(\.seconds).reduce(0, +) * 1000).rounded() / 1000
    let (failed, skipped) = (steps.count { $0.result == .failed }, steps.count { $0.result == .skipped })
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite name="\(name)" tests="\(steps.count)" failures="\(failed)" skipped="\(skipped)" time="\(time)">

      """
    for step in steps {
      let detail = Self.attribute(step.detail)
      let content =
        switch step.result {
        case .ok: "<system-out>\(detail)</system-out>"
        case .skipped: "<skipped message=\"\(detail)\"/>"
        case .failed: "<failure message=\"\(detail)\"/>"
        }
      let place = "classname=\"\(name)\" name=\"\(step.step)\" time=\"\(step.seconds)\""
      text += "  <testcase \(place)>\(content)</testcase>\n"
    }
    return text + "</testsuite>\n"
  }

  /// Escapes text for XML attributes and content. Control characters, which XML does not allow, are replaced first.
  private static func attribute(_ text: String) -> String {
    let entities: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
    return Visible.text(text).map { entities[$0] ?? String($0) }.joined()
  }
}

/// A page of results for bug reports: the system, the reader, and the results of the steps. It contains no serial
/// number.
struct ReaderTestPage {
  let report: ReaderTestReport

  var text: String {
    let reader = report.reader
    let identity = reader.identity
    var facts = [
      ("Reader", Spoken.reader(reader)), ("Through", identity.adapter.rawValue),
      ("Driver", identity.adapter.opensDevice ? identity.driver : "not reported by fprintd"),
    ]
    if let vendor = identity.vendor, let product = identity.product {
      facts.append(("USB", "\(Hexadecimal.text(of: vendor)):\(Hexadecimal.text(of: product))"))
    }
    facts += [
      ("Finger", reader.scanType.rawValue), ("Enrol stages", "\(reader.enrollStages)"),
      ("Features", reader.features.map(\.rawValue).sorted().joined(separator: ", ")),
      ("Built in", identity.fixedPort == nil ? "not told" : "yes"), ("Whorl", Version.text), ("System", Self.system),
      ("Result", report.passed ? "passed" : "FAILED"),
    ]
    let lines = facts.map { "| \($0.0) | \(Self.cell($0.1)) |" }
    let steps = report.steps.map { "| \($0.step) | \($0.result.rawValue) | \($0.seconds) | \(Self.cell($0.detail)) |" }
    return """
      # Fingerprint reader test: \(Self.cell(reader.name))

      | | |
      | --- | --- |
      \(lines.joined(separator: "\n"))

      | step | result | seconds | detail |
      | --- | --- | --- | --- |
      \(steps.joined(separator: "\n"))

      """
  }

  private static func cell(_ text: String) -> String {
    Visible.text(text).split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
  }

  /// The kernel and the distribution.
  private static var system: String {
    var names = utsname()
    uname(&names)
    let kernel = withUnsafeBytes(of: &names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let lines = (try? SmallFile.read("/etc/os-release", limit: 16 << 10)) ?? []
    let name = String(decoding: lines, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }
    let distribution = name?.dropFirst("PRETTY_NAME=".count).filter { $0 != "\"" } ?? "unknown"
    return "\(distribution), Linux \(kernel)"
  }
}
