// GLib for Swift, as far as libfprint needs it. Begin with `MainContextExecutor`, the
// thread of GLib's main context, and `GObjectReference`, which owns an object.

internal import CFprint
internal import CLinux
internal import Glibc
internal import Synchronization

/// Runs actors on the thread that owns GLib's default main context.
///
/// libfprint iterates that context inside `fp_context_enumerate`. All jobs therefore run from one persistent source:
/// GLib does not dispatch a source recursively, so no job starts inside a call that another job is making.
package final class MainContextExecutor: SerialExecutor {
  /// The only instance, because a process has only one default main context.
  package static let shared = MainContextExecutor()

  private enum Work {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  /// A `GSource`. Any thread may wake it.
  private struct Waker: @unchecked Sendable {
    let source: UnsafeMutablePointer<GSource>
  }

  private let queue = Mutex<[Work]>([])
  private let waker: Waker

  private init() {
    // The source keeps the pointer to the functions as long as it exists, which is until the process ends.
    let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
    functions.initialize(
      to: GSourceFuncs(
        prepare: nil, check: nil, dispatch: dispatchJobs, finalize: nil, closure_callback: nil, closure_marshal: nil))
    // g_source_new: transfer full. g_source_attach adds a reference for the context.
    guard let source = g_source_new(functions, guint(MemoryLayout<GSource>.size)) else {
      fatalError("g_source_new returned NULL")
    }
    g_source_set_ready_time(source, -1)
    g_source_attach(source, nil)
    waker = Waker(source: source)
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    add(.job(UnownedJob(job)))
  }

  /// Runs a closure on the context's thread, after all work queued before it.
  package func perform(_ body: @escaping @Sendable () -> Void) {
    add(.closure(body))
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
    UnownedSerialExecutor(ordinary: self)
  }

  package func checkIsolated() {
    precondition(g_main_context_is_owner(nil) != 0, "not on the thread that owns the default main context")
  }

  package func isIsolatingCurrentContext() -> Bool? {
    g_main_context_is_owner(nil) != 0
  }

  private func add(_ work: Work) {
    queue.withLock { $0.append(work) }
    // A ready time of 0 is in the past, so the source is ready at once. This also wakes the context's thread.
    g_source_set_ready_time(waker.source, 0)
  }

  /// Runs the work that is queued now. Work that these jobs add wakes the source again, so that other sources run in
  /// between.
  fileprivate func drain() {
    g_source_set_ready_time(waker.source, -1)
    let work = queue.withLock { queue in
      let work = queue
      queue = []
      return work
    }
    for next in work {
      switch next {
      case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
      case .closure(let body): body()
      }
    }
  }

  /// Makes the calling thread own the default main context and runs it for ever.
  package static func run() -> Never {
    _ = shared
    // g_main_loop_new: transfer full; never freed because the loop never ends.
    g_main_loop_run(g_main_loop_new(nil, 0))
    fatalError("the main loop ended")
  }

  /// Does the same as ``run()`` on a new thread, for a program that needs its main thread.
  package static func runOnThread() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // The default stack size is enough: libfprint's matcher does not keep its large tables on the stack.
    var thread = pthread_t()
    let status = pthread_create(&thread, &attributes, runMainContext, nil)
    precondition(status == 0, "no thread for the main context")
  }
}

private nonisolated func runMainContext(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  MainContextExecutor.run()
}

private nonisolated func dispatchJobs(
  _: UnsafeMutablePointer<GSource>?, _: GSourceFunc?, _: gpointer?
) -> gboolean {
  MainContextExecutor.shared.drain()
  return 1
}

/// The log messages of GLib and of the libraries that use it.
package enum GLibLog {
  /// Discards all log messages until the process ends, because standard error belongs to the caller of the process.
  /// GLib still prints a fatal message before it aborts.
  package static func silence() {
    // g_log_set_writer_func may be called once in a process, so it is called by the initialiser of a constant.
    _ = silenced
  }

  private static let silenced: Void = g_log_set_writer_func(dropMessage, nil, nil)
}

/// A `GLogWriterFunc`. It borrows the fields (transfer none).
private nonisolated func dropMessage(
  _ level: GLogLevelFlags, _ fields: UnsafePointer<GLogField>?, _ count: gsize, _: gpointer?
) -> GLogWriterOutput {
  guard whorl_is_fatal(level) != 0 else { return G_LOG_WRITER_HANDLED }
  return g_log_writer_standard_streams(level, fields, count, nil)
}
