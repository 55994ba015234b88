import CommandBase
import Moving
import Synchronization

/// Shows the progress of a run on standard error.
final class SyncProgressLine: Sendable {
  private let isQuiet: Bool
  private let options: GlobalOptions
  private let shown = Mutex<(words: String, bar: ProgressBar?)?>(nil)

  init(isQuiet: Bool, _ options: GlobalOptions) { (self.isQuiet, self.options) = (isQuiet, options) }

  func show(_ progress: SyncProgress) {
    let (words, done, all) =
      switch progress {
      case .receiving(let done, let all): ("Receiving", done, all)
      case .taking(let done, let all): ("Taking in", done, all)
      case .writing(let done, let all): ("Writing", done, all)
      case .sending(let done, let all): ("Sending", done, all)
      }
    shown.withLock { shown in
      if shown?.words != words {
        shown?.bar?.end()
        shown = (words, ProgressBar(words, isQuiet: isQuiet || options.json))
      }
      shown?.bar?.show(done, of: all)
    }
  }

  func end() {
    shown.withLock { shown in
      shown?.bar?.end()
      shown = nil
    }
  }
}
