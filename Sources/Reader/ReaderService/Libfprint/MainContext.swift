internal import GLibKit

/// The thread libfprint runs on.
package enum MainContext {
  /// Makes the calling thread the one libfprint runs on, for ever.
  ///
  /// On the main thread nothing is left to serve Swift's main actor then: start the program's work before, in a task
  /// of its own (`Task.detached`, for a `Task` of a main file belongs to the main actor).
  package static func run() -> Never {
    GLibLog.silence()
    MainContextExecutor.run()
  }

  /// Gives libfprint a thread of its own, for a program whose main thread is taken.
  package static func runOnThread() {
    GLibLog.silence()
    MainContextExecutor.runOnThread()
  }
}
