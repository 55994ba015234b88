internal import CFprint

/// What GLib and the libraries above it have to say to their developers.
package enum GLibLog {
  /// Drops it, for the rest of the process's life: standard error belongs to whoever started the process. What makes
  /// GLib abort is printed all the same, since it is the last that is heard of the process.
  package static func silence() {
    // g_log_set_writer_func: may be called once in a process, hence the constant.
    _ = silenced
  }

  private static let silenced: Void = g_log_set_writer_func(dropMessage, nil, nil)
}

/// A `GLogWriterFunc`. The fields are transfer none.
private nonisolated func dropMessage(
  _ level: GLogLevelFlags, _ fields: UnsafePointer<GLogField>?, _ count: gsize, _: gpointer?
) -> GLogWriterOutput {
  let fatal = G_LOG_LEVEL_ERROR.rawValue | G_LOG_FLAG_FATAL.rawValue
  guard level.rawValue & fatal != 0 else { return G_LOG_WRITER_HANDLED }
  return g_log_writer_standard_streams(level, fields, count, nil)
}
