internal import GLibKit

/// The thread that libfprint runs on.
package enum MainContext {
  /// Makes the calling thread the one that libfprint runs on. Does not return.
  ///
  /// If this is the main thread, the main actor is blocked from then on. Start the program's work before, with
  /// `Task.detached`, because a `Task` in `main.swift` belongs to the main actor.
  package static func run() -> Never {
    GLibLog.silence()
    MainContextExecutor.run()
  }

  /// Runs libfprint on a new thread, for a program that needs its main thread.
  package static func runOnThread() {
    GLibLog.silence()
    MainContextExecutor.runOnThread()
  }
}
