internal import CFprint

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
