import ArgumentParser
import CommandBase
import Glibc
internal import Prompts
import Synchronization

/// The flag of commands that show a progress bar.
struct QuietOption: ParsableArguments {
  @Flag(help: "Show no progress bar.")
  var quiet = false
}

/// Shows progress on standard error, if that is a terminal: one line that is updated, and removed at the end.
final class ProgressBar: Sendable {
  /// The least time between two changes of the line.
  private static let interval = Duration.milliseconds(100)
  private static let width = 30

  private struct State: ~Copyable {
    var line: ProgressLine
    var last: ContinuousClock.Instant?
  }

  private let words: String
  private let state: Mutex<State>

  /// Nil without a terminal, with `--quiet` and with `--json`.
  ///
  /// - Parameter words: the current activity.
  convenience init?(_ words: String, _ quiet: QuietOption, _ options: GlobalOptions) {
    self.init(words, isQuiet: quiet.quiet || options.json)
  }

  /// Nil without a terminal, and if it is to be quiet.
  init?(_ words: String, isQuiet: Bool) {
    guard !isQuiet, isatty(STDERR_FILENO) == 1 else { return nil }
    self.words = words
    state = Mutex(State(line: ProgressLine.onStandardError()))
  }

  func show(_ done: Int, of all: Int) {
    state.withLock { state in
      let now = ContinuousClock.now
      guard all > 0, state.last.map({ now - $0 >= Self.interval }) ?? true else { return }
      state.last = now
      let part = min(1, Double(done) / Double(all))
      let filled = Int(part * Double(Self.width))
      let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: Self.width - filled)
      state.line.show("\(words) [\(bar)] \(Int(part * 100)) %")
    }
  }

  /// Removes the line.
  func end() { state.withLock { $0.line.finish() } }
}
