internal import CSystemd
internal import Glibc
internal import Primitives

/// Lets the process end with its starter.
func bindToStarter() {
  // The starter handles Ctrl-C: it cancels the scan and waits for the answer.
  signal(SIGINT, SIG_IGN)
  // If the starter has died before, the socket is closed, and that ends this process, too.
  whorl_set_process_option(PR_SET_PDEATHSIG, UInt(SIGKILL))
}

/// Disables core dumps, which would contain templates.
func hideMemory() {
  whorl_set_process_option(PR_SET_DUMPABLE, 0)
  // The process was executed by a descriptor, so the kernel named it after the descriptor's number.
  "whorl-reader".withCString { name in
    // PR_SET_NAME: copies the name
    _ = whorl_set_process_option(PR_SET_NAME, UInt(bitPattern: name))
  }
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
}

/// Closes the reader and exits; exits after 300 ms even if the reader is not closed, because the kernel releases it.
func releaseAndExit(_ reader: any FingerprintReader) {
  Task(executorPreference: BackgroundThread.shared) {
    try? await Pause.wait(for: .milliseconds(300))
    _exit(0)
  }
  Task(executorPreference: BackgroundThread.shared) {
    try? await reader.close()
    _exit(0)
  }
}
