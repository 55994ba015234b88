internal import CSystemd
internal import Fingerprint
internal import Glibc

/// Binds the process's life to who started it, and keeps templates out of core files.
func bindToStarter() {
  // Ctrl-C is the starter's to handle: it cancels, and gets its answer.
  signal(SIGINT, SIG_IGN)
  // Whoever died before this line has closed the socket, which ends the process just as well.
  whorl_set_process_option(PR_SET_PDEATHSIG, UInt(SIGKILL))
  whorl_set_process_option(PR_SET_DUMPABLE, 0)
  // It was started by the number of a descriptor, which the kernel took for its name.
  "whorl-reader".withCString { name in
    // PR_SET_NAME: copies the name
    _ = whorl_set_process_option(PR_SET_NAME, UInt(bitPattern: name))
  }
  var none = rlimit(rlim_cur: 0, rlim_max: 0)
  setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
}

/// Ends the process, with the reader closed if it lets itself be closed in time. The kernel releases it in any case.
func releaseAndExit(_ reader: any FingerprintReader) {
  Task {
    try? await Task.sleep(for: .milliseconds(300))
    _exit(0)
  }
  Task {
    try? await reader.close()
    _exit(0)
  }
}
