import Fingerprint
import Glibc
import Primitives
internal import PromptTexts
internal import SecretModel

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
