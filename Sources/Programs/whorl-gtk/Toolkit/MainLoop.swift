internal import CAdwaita
internal import Dispatch
internal import Glibc
internal import Primitives

/// Runs the work of the main actor inside GLib's main loop, which is the loop of the window.
enum MainLoop {
  /// Serves libdispatch's main queue, on which Swift runs the main actor, from now on. Call it once.
  static func serveMainActor() {
    // The queue exists from its first use on.
    _ = DispatchQueue.main
    g_unix_fd_add(_dispatch_get_main_queue_handle_4CF(), G_IO_IN, runMainQueue, nil)
  }

  /// Runs the work of the window as a task. It prefers an executor, since a task that waits goes on in the cooperative pool
  /// else, before it is back on the main actor; and that pool wakes the program every second from then on (`Pause`).
  @discardableResult static func begin(
    @_implicitSelfCapture _ work: @escaping @MainActor () async -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: BackgroundThread.shared) { await work() }
  }

  /// Calls a closure once after some seconds.
  static func after(seconds: Int, _ body: @escaping () -> Void) -> Timer {
    // GLib owns the closure, and releases it with the destroy notify.
    let id = g_timeout_add_seconds_full(
      G_PRIORITY_DEFAULT, guint(seconds), fireTimer, Unmanaged.passRetained(Closure(body)).toOpaque(), releaseTimer)
    return Timer(id: id)
  }

  /// A closure that is to be called once.
  struct Timer {
    fileprivate let id: guint

    /// Call it only before the closure is called.
    func cancel() { g_source_remove(id) }
  }

  fileprivate final class Closure {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
}

private nonisolated func runMainQueue(_ descriptor: gint, _: GIOCondition, _: gpointer?) -> gboolean {
  // An eventfd: reading takes its count, so that it is readable again only when there is new work.
  var count: UInt64 = 0
  _ = read(descriptor, &count, 8)
  _dispatch_main_queue_callback_4CF(nil)
  return 1
}

private nonisolated func fireTimer(_ data: gpointer?) -> gboolean {
  nonisolated(unsafe) let data = data
  MainActor.assumeIsolated {
    guard let data else { return }
    Unmanaged<MainLoop.Closure>.fromOpaque(data).takeUnretainedValue().body()
  }
  return 0
}

private nonisolated func releaseTimer(_ data: gpointer?) {
  guard let data else { return }
  Unmanaged<MainLoop.Closure>.fromOpaque(data).release()
}
