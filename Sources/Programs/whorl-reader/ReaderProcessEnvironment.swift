internal import Glibc
internal import Primitives
internal import ReaderBus

/// Empties the environment.
///
/// - Returns: the folder that `umockdev-run` set for its preloaded library. Nil if this process was not started by it.
func takeEnvironment() -> String? {
  let testbed = getenv("UMOCKDEV_DIR").map { String(cString: $0) }
  clearenv()
  return testbed
}

/// Sets the variables that the selection needs, and no others. Exits if a recording is used without `umockdev-run`.
func buildEnvironment(for selection: ReaderSelection, isTraced: Bool, testbed: String?) {
  for (name, value) in selection.readerEnvironment { setenv(name, value, 1) }
  guard selection.nature == .replayed || isTraced else { return }
  guard let testbed else {
    // Without umockdev this process would use the machine's own readers.
    complain("a recording is replayed under umockdev-run, and made under umockdev-record")
    exit(64)
  }
  setenv("UMOCKDEV_DIR", testbed, 1)
}

func complain(_ words: String) {
  let line = "whorl-reader: \(words)\n"
  // write: reads as many bytes as it is told
  _ = line.utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
}
