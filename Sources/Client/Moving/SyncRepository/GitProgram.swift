internal import Processes

/// The `git` of this machine, and what it may read and run (decision 0147).
package struct GitProgram: Sendable {
  /// Where git is looked for. `PATH` is not used.
  private static let places = [
    "/usr/bin/git", "/usr/local/bin/git", "/bin/git", "/run/current-system/sw/bin/git",
  ]
  /// The variables with which git, ssh and the user's credential helpers reach a remote as in the user's shell.
  private static let passed: Set = [
    "HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "PATH", "TERM", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "GNUPGHOME",
    "GPG_TTY",
  ]
  /// The variables for prompts on a desktop.
  private static let asking: Set = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "SSH_ASKPASS", "GIT_ASKPASS"]

  /// Findings of fsck that only matter for a checkout. Nothing is checked out, and files with such paths are ignored.
  private static let harmless = [
    "hasDot", "hasDotdot", "hasDotgit", "fullPathname", "emptyName", "largePathname", "nullSha1", "gitmodulesBlob",
    "gitmodulesLarge", "gitmodulesMissing", "gitmodulesName", "gitmodulesParse", "gitmodulesPath", "gitmodulesSymlink",
    "gitmodulesUpdate", "gitmodulesUrl",
  ]

  /// Settings that override all configuration files.
  private static let settings =
    [
      "core.hooksPath=/dev/null", "core.logAllRefUpdates=false", "gc.auto=0", "maintenance.auto=false",
      // Keep each commit as a pack, which saves a process that unpacks it.
      "fastimport.unpackLimit=1",
      // Larger files do not belong to a circle: git must not load them into memory.
      "core.bigFileThreshold=2m", "pack.threads=1", "pack.windowMemory=16m",
    ]
  private static let transportSettings =
    [
      "fetch.fsckObjects=true", "transfer.fsckObjects=true", "fetch.recurseSubmodules=false",
      "push.recurseSubmodules=no", "push.gpgSign=false", "submodule.recurse=false", "fetch.writeCommitGraph=false",
      "http.lowSpeedLimit=1", "http.lowSpeedTime=60",
    ] + harmless.map { "fetch.fsck.\($0)=ignore" }

  let program: HelperProgram
  private let own: [String]
  private let passedOn: [String]
  /// Whether git and ssh may ask the person at the terminal.
  let mayAsk: Bool

  /// - Parameters:
  ///   - environment: the caller's, as `NAME=value`.
  ///   - mayAsk: whether git and ssh may ask the person at the terminal.
  package init(environment: [String], mayAsk: Bool) throws(SyncRunError) {
    do throws(HelperProgram.NotFound) {
      program = try HelperProgram.first(at: Self.places, missing: "git is not installed")
    } catch {
      throw .noGit(error.problem)
    }
    self.mayAsk = mayAsk
    // No file of a circle needs a single allocation of this size.
    own = ["LC_ALL=C.UTF-8", "GIT_ALLOC_LIMIT=256m", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat"]
    let names = mayAsk ? Self.passed.union(Self.asking) : Self.passed
    passedOn = environment.filter { entry in
      // Keys in whorl-agent prompt for a touch, which nobody expects from a timer.
      let isOwnAgent = entry.hasPrefix("SSH_AUTH_SOCK=") && entry.hasSuffix("/whorl-agent")
      return names.contains(String(entry.prefix { $0 != "=" })) && (mayAsk || !isOwnAgent)
    }
  }

  /// A command that needs no remote. It reads only the repository's configuration.
  func local(_ words: [String]) -> GitCommand {
    GitCommand(
      settings: Self.settings, words: words,
      environment: own + ["PATH=/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"])
  }

  /// A command that connects to the remote as the user's own git does, with the user's keys, helpers and proxies.
  ///
  /// - Parameter protocols: the ways in which it may connect, whatever address the user's configuration puts in place of
  ///   the remote's.
  func transport(_ words: [String], by protocols: String) -> GitCommand {
    let silent = ["GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never"]
    return GitCommand(
      settings: Self.settings + Self.transportSettings, words: words,
      environment: own + passedOn + ["GIT_ALLOW_PROTOCOL=\(protocols)"] + (mayAsk ? [] : silent))
  }
}

/// One run of git.
struct GitCommand {
  let settings: [String]
  let words: [String]
  let environment: [String]

  func arguments(_ program: HelperProgram, in folder: String) -> [String] {
    [program.path, "-C", folder] + settings.flatMap { ["-c", $0] } + words
  }
}
