internal import CFprint
internal import Glibc
internal import ReaderService
internal import Synchronization

/// A check, and the lines it prints.
enum Check: String {
  case references, properties, observation, errors, asynchronous, late, cancellation, nesting, order, log

  func run() async -> [String] {
    await OnMainContext().run(self)
  }
}

/// Calls GLib as the reader process does: from an actor on the thread of the main context.
actor OnMainContext {
  nonisolated var unownedExecutor: UnownedSerialExecutor { MainContextExecutor.shared.asUnownedSerialExecutor() }

  func run(_ check: Check) async -> [String] {
    switch check {
    case .references: references()
    case .properties: properties()
    case .observation: observation()
    case .errors: errors()
    case .asynchronous: await asynchronous()
    case .late: await late()
    case .cancellation: await cancellation()
    case .nesting: await nesting()
    case .order: await order()
    case .log: log()
    }
  }

  private func references() -> [String] {
    // g_cancellable_new: transfer full
    guard let object = g_cancellable_new().map({ UnsafeMutableRawPointer($0) }) else { return [] }
    let watched = Watched(object)
    var lines: [String] = []
    do {
      let adopted = GObjectReference(adopting: object)
      do {
        let retained = GObjectReference(retaining: object)
        lines.append("two references: \(watched.count)")
        withExtendedLifetime(retained) {}
      }
      lines.append("one reference: \(watched.count)")
      withExtendedLifetime(adopted) {}
    }
    lines.append("none: \(watched.isAlive ? "alive" : "gone")")
    return lines
  }

  private func properties() -> [String] {
    // g_simple_action_new, g_memory_input_stream_new, g_buffered_input_stream_new: transfer full
    let base = g_memory_input_stream_new()
    guard let action = g_simple_action_new("touch", nil).map({ GObjectReference(adopting: .init($0)) }),
      let stream = g_buffered_input_stream_new(base).map({ GObjectReference(adopting: .init($0)) })
    else { return [] }
    let inner = stream.object("base-stream")
    g_object_unref(base)
    return [
      "string: \(action.string("name") ?? "nil")",
      "Boolean: \(action.bool("enabled"))",
      "object: \(inner?.pointer == base.map { UnsafeMutableRawPointer($0) })",
      "no such property: \(action.string("no-such") ?? "nil") \(action.bool("no-such"))",
      "no object: \(action.object("state") == nil)",
      "another type: \(action.string("enabled") ?? "nil") \(action.bool("name")) \(action.object("name") == nil)",
    ]
  }

  private func observation() -> [String] {
    guard let action = g_simple_action_new("touch", nil) else { return [] }
    let object = GObjectReference(adopting: UnsafeMutableRawPointer(action))
    let changes = Mutex(0)
    var lines: [String] = []
    do {
      let observation = PropertyObservation(of: "enabled", in: object) { changes.withLock { $0 += 1 } }
      g_simple_action_set_enabled(action, 0)
      g_simple_action_set_enabled(action, 1)
      lines.append("changes: \(changes.withLock { $0 })")
      withExtendedLifetime(observation) {}
    }
    g_simple_action_set_enabled(action, 0)
    lines.append("changes after the observation: \(changes.withLock { $0 })")
    return lines
  }

  private func errors() -> [String] {
    func size(of path: String) -> Result<gsize, GLibError> {
      GLibError.catching { error in
        var contents: UnsafeMutablePointer<gchar>?
        var length: gsize = 0
        g_file_get_contents(path, &contents, &length, error)
        // transfer full
        g_free(contents)
        return length
      }
    }
    var lines: [String] = []
    if case .failure(let error) = size(of: "/no/such/file") {
      let isFile = error.domain == g_file_error_quark()
      lines.append("failure: \(isFile) \(error.code) \(error.message.contains("/no/such/file"))")
    }
    if case .success(let count) = size(of: "/proc/self/comm") { lines.append("success: \(count > 0)") }
    return lines
  }

  private func asynchronous() async -> [String] {
    guard let stream = g_memory_input_stream_new() else { return [] }
    let object = GObjectReference(adopting: UnsafeMutableRawPointer(stream))
    let count = await finished(
      start: { callback, data in g_input_stream_skip_async(stream, 10, 0, nil, callback, data) },
      finish: { [object] result in
        g_input_stream_skip_finish(object.pointer.assumingMemoryBound(to: GInputStream.self), result, nil)
      })
    MainContextExecutor.shared.checkIsolated()
    return ["skipped: \(count)"]
  }

  private func late() async -> [String] {
    guard let stream = g_memory_input_stream_new() else { return [] }
    let object = GObjectReference(adopting: UnsafeMutableRawPointer(stream))
    let cancellable = Cancellable()
    let result = await finished(
      start: { callback, data in
        // A stream in memory has skipped when this returns; only the callback comes later.
        g_input_stream_skip_async(stream, 10, 0, cancellable.pointer, callback, data)
        g_cancellable_cancel(cancellable.pointer)
      },
      finish: { [object] result in
        GLibError.catching {
          g_input_stream_skip_finish(object.pointer.assumingMemoryBound(to: GInputStream.self), result, $0)
        }
      })
    let count = if case .success(let count) = result { "\(count)" } else { "cancelled" }
    return ["skipped: \(count), cancelled: \(cancellable.isCancelled)"]
  }

  private func cancellation() async -> [String] {
    let cancellable = Cancellable()
    cancellable.cancel()
    // The cancellation is only scheduled: its thread is running this code.
    let now = g_cancellable_is_cancelled(cancellable.pointer) != 0
    await afterOtherWork()
    let later = g_cancellable_is_cancelled(cancellable.pointer) != 0
    return ["at once: \(now)", "later: \(later)"]
  }

  private func nesting() async -> [String] {
    let ran = Mutex(false)
    MainContextExecutor.shared.perform { ran.withLock { $0 = true } }
    // As libfprint does inside fp_context_enumerate.
    for _ in 0..<100 { g_main_context_iteration(nil, 0) }
    let inside = ran.withLock { $0 }
    await afterOtherWork()
    return ["inside: \(inside)", "after: \(ran.withLock { $0 })"]
  }

  private func order() async -> [String] {
    let seen = Mutex<[Int]>([])
    for number in 0..<100 { MainContextExecutor.shared.perform { seen.withLock { $0.append(number) } } }
    await afterOtherWork()
    return ["in order: \(seen.withLock { $0 } == Array(0..<100))"]
  }

  private func log() -> [String] {
    g_warn_message("Check", "file", 1, "before", "a warning")
    GLibLog.silence()
    g_warn_message("Check", "file", 2, "after", "a warning")
    return []
  }

  private func afterOtherWork() async {
    await withCheckedContinuation { continuation in
      MainContextExecutor.shared.perform { continuation.resume() }
    }
  }
}

/// Watches whether an object still exists.
final class Watched {
  private let place: UnsafeMutablePointer<gpointer?>

  init(_ object: UnsafeMutableRawPointer) {
    place = .allocate(capacity: 1)
    place.initialize(to: object)
    // GObject sets the pointer to NULL when the object is freed (transfer none).
    g_object_add_weak_pointer(object.assumingMemoryBound(to: GObject.self), place)
  }

  deinit {
    place.pointee.map { g_object_remove_weak_pointer($0.assumingMemoryBound(to: GObject.self), place) }
    place.deallocate()
  }

  var isAlive: Bool { place.pointee != nil }

  /// How many references the object has.
  var count: UInt32 { place.pointee.map { $0.assumingMemoryBound(to: GObject.self).pointee.ref_count } ?? 0 }
}
