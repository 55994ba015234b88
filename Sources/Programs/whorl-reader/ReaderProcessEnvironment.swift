internal import Fingerprint
internal import Glibc
internal import ReaderBus

/// Empties the environment.
///
/// - Returns: what `umockdev-run` put there for its preloaded library, which is in this process already if it is.
func takeEnvironment() -> String? {
  let testbed = getenv("UMOCKDEV_DIR").map { String(cString: $0) }
  clearenv()
  return testbed
}

/// Puts into the environment what the selection names, and nothing else. Ends the process where it may not go on.
func buildEnvironment(for selection: ReaderSelection, isTraced: Bool, testbed: String?) {
  for (name, value) in selection.readerEnvironment { setenv(name, value, 1) }
  guard selection.nature == .replayed || isTraced else { return }
  guard let testbed else {
    // Without its testbed this process would take the machine's own readers for recorded ones.
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
