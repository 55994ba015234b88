internal import CLinux
internal import Glibc

/// What this process gives up before anything else, and what a command that it starts gets back.
struct Hardening {
  private let coreLimit: rlimit
  private let mask: mode_t

  /// Disables core files, tracing by other programs of the same user, and access for group and others to new files.
  init() {
    // All borrow the limit for the call.
    var limit = rlimit()
    whorl_get_core_limit(&limit)
    coreLimit = limit
    limit.rlim_cur = 0
    whorl_set_core_limit(&limit)
    whorl_refuse_inspection()
    mask = umask(0o077)
  }

  /// Runs a closure with the limits from before, which a child inherits.
  fileprivate func undone<Value>(_ body: () -> Value) -> Value {
    var (limit, none) = (coreLimit, coreLimit)
    none.rlim_cur = 0
    umask(mask)
    whorl_set_core_limit(&limit)
    defer {
      umask(0o077)
      whorl_set_core_limit(&none)
    }
    return body()
  }
}

/// A command that runs with the agent. The agent ends with it.
struct AgentCommand {
  let process: pid_t

  /// Starts the command, which `PATH` finds, with the agent's socket in its environment.
  init(_ words: [String], socket: String, _ hardening: Hardening) throws(Failure) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    setenv("SSH_AUTH_SOCK", socket, 1)
    // strdup: the copies are ours until the child has its own
    let arguments = words.map { strdup($0) }
    defer { for word in arguments { free(word) } }
    var process: pid_t = 0
    let code = hardening.undone { posix_spawnp(&process, words[0], nil, &attributes, arguments + [nil], environ) }
    guard code == 0 else { throw Failure("\(words[0]): \(String(cString: strerror(code)))") }
    self.process = process
  }

  /// Waits for its end, and returns its exit status as a shell reports it.
  func status() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}
