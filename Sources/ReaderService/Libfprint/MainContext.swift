internal import GLibKit

/// The thread libfprint runs on.
package enum MainContext {
  /// Makes the calling thread the one libfprint runs on, for ever.
  package static func run() -> Never { MainContextExecutor.run() }

  /// Gives libfprint a thread of its own, for a program whose main thread is taken.
  package static func runOnThread() { MainContextExecutor.runOnThread() }
}
