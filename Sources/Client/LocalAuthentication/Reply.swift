internal import Dispatch

/// Calls a program's completion handler on a thread of its own. The handler may block it, even in calls that wait for
/// the library's own threads, or for another handler.
func reply(_ handler: @escaping @Sendable () -> Void) {
  DispatchQueue(label: "whorl.reply").async { handler() }
}
