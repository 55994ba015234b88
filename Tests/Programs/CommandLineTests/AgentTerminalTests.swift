import Glibc
import ProgramDriver
import Synchronization
import Testing

@Suite("whorl-agent in the foreground of a terminal")
struct AgentTerminalTests {
  /// Runs the agent in the foreground of a terminal, and ends it. The body gets the terminal, and a program that signs with a
  /// key of the vault.
  private func signing(
    _ body: (PseudoTerminal, @Sendable () async throws -> Invocation.Result) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      let made = try await store.whorl("ssh", "add", "work")
      try made.mustSucceed()
      let key = "\(store.folder)/work.pub"
      try writeFile(key, made.output)
      let socket = "\(store.folder)/agent"
      let terminal = try PseudoTerminal(
        ["--socket", socket, "--store", store.directory, "--known-hosts", "/dev/null"] + store.reader,
        program: "whorl-agent")
      try await terminal.waits(for: "whorl-agent: listens")
      try await body(terminal) {
        try await Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-Y", "sign", "-n", "file", "-f", key], input: [1],
          environment: ["SSH_AUTH_SOCK": socket]
        ).run()
      }
      terminal.signal(SIGTERM)
      #expect(try await terminal.status() == 0)
      #expect(terminal.isAsFound)
      #expect(access(socket, F_OK) != 0)
    }
  }

  /// How often the threads of a process have waited so far.
  private func waits(of process: pid_t) throws -> Int {
    var sum = 0
    for thread in try folderEntries("/proc/\(process)/task") {
      // A thread may have ended meanwhile.
      guard let bytes = try? readFile("/proc/\(process)/task/\(thread)/status") else { continue }
      for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
        let words = line.split(whereSeparator: \.isWhitespace)
        if words.first == "voluntary_ctxt_switches:", let count = words.last.flatMap({ Int($0) }) { sum += count }
      }
    }
    return sum
  }

  @Test("whorl-agent prompts on its own terminal, takes the passcode there, and restores the terminal after Esc")
  func prompts() async throws {
    try await signing { terminal, sign in
      async let signed = sign()
      try await terminal.waits(for: "sign a file with the SSH key work")
      try await terminal.waits(for: "Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type("\n")
      try await terminal.waits(for: "wants to sign a file with the SSH key work. Passcode")
      terminal.type("\(TestStore.passcode)\n")
      try await signed.mustSucceed()
      try await terminal.becomes(echoing: true)
      #expect(!terminal.shown.contains(TestStore.passcode))

      async let refused = sign()
      try await terminal.waits(for: "Esc: cancel)", count: 2)
      try await terminal.becomes(echoing: false)
      terminal.type(CancelKey.escape.rawValue)
      #expect(try await refused.status != 0)
      try await terminal.becomes(echoing: true)
    }
  }

  @Test("whorl-agent and its vault do not wake the processor by themselves after a passcode")
  func rests() async throws {
    try await signing { terminal, sign in
      // The passcode is stretched on a thread of its own.
      async let signed = sign()
      try await terminal.waits(for: "Esc: cancel)")
      try await terminal.becomes(echoing: false)
      terminal.type("\n")
      try await terminal.waits(for: ". Passcode")
      terminal.type("\(TestStore.passcode)\n")
      try await signed.mustSucceed()
      let family = [terminal.pid] + descendants(of: terminal.pid)
      #expect(family.count >= 2)
      // Timers of the request may still end.
      var isIdle = false
      for _ in 0..<20 where !isIdle {
        let before = family.map { (try? waits(of: $0)) ?? 0 }
        try await Task.sleep(for: .milliseconds(2_500))
        isIdle = family.map { (try? waits(of: $0)) ?? 0 } == before
      }
      #expect(isIdle)
    }
  }

  @Test("whorl-agent with a command passes on signals sent to it alone, and leaves Ctrl-C to the terminal")
  func signals() async throws {
    try await TestStore.with { store in
      // Prints for each signal whether a program sent it (SI_USER, 0) or the terminal (SI_KERNEL, 128).
      let script = """
        import signal
        wanted = {signal.SIGINT, signal.SIGTERM}
        signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
        print("begun", flush=True)
        while True:
          heard = signal.sigwaitinfo(wanted)
          print("heard", signal.Signals(heard.si_signo).name, heard.si_code, flush=True)
          if heard.si_signo == signal.SIGTERM: exit(5)
        """
      let terminal = try PseudoTerminal(
        [
          "--socket", "\(store.folder)/agent", "--store", store.directory, "--known-hosts", "/dev/null", "--",
          "python3",
          "-c", script,
        ], program: "whorl-agent")
      try await terminal.waits(for: "begun\r\n")
      terminal.type("\u{3}")
      try await terminal.waits(for: "heard SIGINT 128\r\n")
      try await Task.sleep(for: .milliseconds(300))
      #expect(!terminal.shown.contains("heard SIGINT 0"))
      terminal.signal(SIGINT)
      try await terminal.waits(for: "heard SIGINT 0\r\n")
      terminal.signal(SIGTERM)
      try await terminal.waits(for: "heard SIGTERM 0\r\n")
      #expect(try await terminal.status() == 5)
    }
  }
}

@Suite("whorl-agent without a desktop, on its client's terminal")
struct ClientTerminalTests {
  /// Makes a key and runs the agent for SSH, with `pinentry` as a script.
  private func with(
    access: String, _ touches: [Touches.Touch] = [], bus: PrivateBus? = nil,
    pinentry: (_ folder: String) -> String = { _ in "exit 1" },
    _ body: (RunningAgent, _ publicKey: String, _ folder: String) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      let made = try await store.whorl("ssh", "add", "work", "--access", access)
      try made.mustSucceed()
      let key = "\(store.folder)/work.pub"
      try writeFile(key, made.output)
      let program = "\(store.folder)/pinentry"
      try writeFile(program, Array("#!/bin/sh\n\(pinentry(store.folder))\n".utf8))
      chmod(program, 0o700)
      var environment = ["PATH": "\(store.folder):/usr/bin:/bin"]
      if let bus { environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address }
      try await RunningAgent.with(store, touches, environment: environment, started: "listens") { socket in
        ["--socket", socket, "--known-hosts", "/dev/null"]
      } _: { agent in
        try await body(agent, key, store.folder)
      }
    }
  }

  private func sign(_ key: String, _ agent: RunningAgent) throws -> PseudoTerminal {
    try PseudoTerminal(
      ["-Y", "sign", "-n", "file", "-f", key, "\(key)"], program: "/usr/bin/ssh-keygen",
      environment: ["SSH_AUTH_SOCK": agent.socket])
  }

  @Test("whorl-agent without a desktop shows its prompts on its client's terminal")
  func shows() async throws {
    try await with(access: "presence", [.wrong, .right]) { agent, key, _ in
      let terminal = try sign(key, agent)
      try await terminal.waits(
        for: "ssh-keygen wants to sign a file with the SSH key work. Swipe the reader (virtual reader).")
      try await terminal.waits(for: "Program: /usr/bin/ssh-keygen")
      try await terminal.waits(for: "No match, 2 touches left")
      #expect(try await terminal.status() == 0)
    }
  }

  @Test("whorl-agent says on the terminal of ssh-add why it adds no key")
  func addedKey() async throws {
    try await with(access: "presence") { agent, _, folder in
      let file = "\(folder)/added"
      try await Invocation(program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-f", file])
        .run()
        .mustSucceed()
      let terminal = try PseudoTerminal(
        [file], program: "/usr/bin/ssh-add", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "'whorl ssh add NAME --import FILE' brings a key into it.")
      #expect(try await terminal.status() != 0)
    }
  }

  @Test(
    "whorl-agent writes nothing on its client's terminal while it is forwarded", arguments: [true, false])
  func forwarded(isForwarding: Bool) async throws {
    // Binds a session to a host whose key cannot be checked, and then adds a key as ssh-add does.
    let script = """
      import socket, struct, sys
      agent = socket.socket(socket.AF_UNIX)
      agent.connect(sys.argv[1])
      def text(data): return struct.pack(">I", len(data)) + data
      def answer(message):
        agent.sendall(text(message))
        return agent.recv(5, socket.MSG_WAITALL)[4]
      fields = [b"session-bind@openssh.com", text(b"sk-ssh-ed25519@openssh.com"), b"session", b"signature"]
      answer(b"\\x1b" + b"".join(map(text, fields)) + (b"\\1" if sys.argv[2] == "true" else b"\\0"))
      print("answered with", answer(b"\\x11"))
      """
    try await with(access: "presence") { agent, _, _ in
      let terminal = try PseudoTerminal(
        ["-c", script, agent.socket, "\(isForwarding)"], program: "/usr/bin/python3")
      try await terminal.waits(for: "answered with 5\r\n")
      #expect(terminal.shown.contains("brings a key into it") == !isForwarding, "\(terminal.shown)")
      #expect(try await terminal.status() == 0)
      try await agent.waits { $0.contains { $0.contains(" is refused: Whorl keeps no keys that ssh-add adds.") } }
    }
  }

  @Test(
    "whorl-agent prompts on its client's terminal if the desktop's notifications fail", arguments: [true, false])
  func noNotification(hangs: Bool) async throws {
    try await PrivateBus.with { bus in
      let desktop = try await DesktopStandIn(on: bus, refusals: hangs ? 0 : 3, hangs: hangs)
      defer { desktop.close() }
      try await with(access: "presence", bus: bus) { agent, key, _ in
        let terminal = try sign(key, agent)
        try await terminal.waits(for: "wants to sign a file with the SSH key work. Swipe the reader (virtual reader).")
        try await terminal.waits(for: "Esc: cancel)")
        terminal.type(CancelKey.escape.rawValue)
        #expect(try await terminal.status() != 0)
        #expect(terminal.isAsFound)
        desktop.goOn()
        // A notification that appears too late is withdrawn.
        if hangs { try await desktop.waitUntilClosed(try await desktop.first().number) }
      }
    }
  }

  @Test("whorl-agent reads typed keys on its client's terminal if the desktop's notifications have no actions")
  func noActions() async throws {
    try await PrivateBus.with { bus in
      let desktop = try await DesktopStandIn(on: bus, hasActions: false)
      defer { desktop.close() }
      try await with(access: "presence", bus: bus) { agent, key, _ in
        let terminal = try sign(key, agent)
        try await terminal.waits(for: "Esc: cancel)")
        let shown = try await desktop.first()
        #expect(shown.actions.isEmpty)
        terminal.type(CancelKey.escape.rawValue)
        #expect(try await terminal.status() != 0)
        #expect(terminal.isAsFound)
        try await desktop.waitUntilClosed(shown.number)
      }
    }
  }

  @Test("a prompt of whorl-agent on its client's terminal is cancelled with Esc, and restores the terminal")
  func cancelled() async throws {
    try await with(access: "presence") { agent, key, _ in
      let terminal = try sign(key, agent)
      try await terminal.waits(for: "Esc: cancel)")
      #expect(!terminal.echoes)
      // A key without a meaning is not echoed and does nothing.
      terminal.type("x")
      terminal.type(CancelKey.escape.rawValue)
      #expect(try await terminal.status() != 0)
      #expect(terminal.isAsFound)
      #expect(!terminal.shown.contains("x\u{1B}"))
    }
  }

  @Test("Enter at a prompt of whorl-agent on its client's terminal takes the passcode, if the item allows it")
  func passcodeAtOnce() async throws {
    try await with(access: "presence", pinentry: answeringPinentry) { agent, key, folder in
      let terminal = try sign(key, agent)
      try await terminal.waits(for: "(Enter: passcode, Esc: cancel)")
      terminal.type("\n")
      #expect(try await terminal.status() == 0, "\(terminal.shown) \(agent.lines)")
      #expect(terminal.isAsFound)
      let asked = String(decoding: try readFile("\(folder)/asked"), as: UTF8.self)
      #expect(asked.contains("OPTION ttyname=/dev/pts/"))
      #expect(asked.contains("echoes"))
    }
    try await with(access: "any-finger", [.right]) { agent, key, _ in
      let terminal = try sign(key, agent)
      try await terminal.waits(for: "(Esc: cancel)")
      terminal.type("\n")
      #expect(try await terminal.status() == 0, "\(terminal.shown) \(agent.lines)")
      #expect(terminal.isAsFound)
    }
  }

  @Test("whorl-agent reads no key from its client's terminal if something was typed before the prompt")
  func typedAhead() async throws {
    try await with(access: "presence", [.right]) { agent, key, folder in
      let command = """
        echo ready; until [ -e \(folder)/typed ]; do sleep 0.02; done
        /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key); read -r line; echo "read <$line>"
        """
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/sh", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "ready")
      terminal.type("ahead\n")
      try writeFile("\(folder)/typed", [])
      try await terminal.waits(for: "read <ahead>")
      #expect(terminal.shown.contains("Swipe the reader"))
      #expect(!terminal.shown.contains("Esc: cancel"))
      #expect(terminal.isAsFound)
    }
  }

  @Test(
    "whorl-agent reads no key from a terminal in a changed mode, or with another program in the foreground",
    arguments: [("stty -icanon;", ""), ("stty -echo;", ""), ("", "| cat")])
  func ownMode(before: String, after: String) async throws {
    try await with(access: "presence", [.right]) { agent, key, _ in
      let command = "\(before) /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key) \(after); stty -a; echo done"
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/sh", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "done")
      #expect(terminal.shown.contains("Swipe the reader"))
      #expect(!terminal.shown.contains("Esc: cancel"))
      #expect(terminal.shown.contains("isig ") && !terminal.shown.contains("-isig"))
    }
  }

  @Test("whorl-agent reads typed keys for a client whose own child is in the terminal's foreground with it")
  func ownChild() async throws {
    try await with(access: "presence") { agent, key, _ in
      // The shell becomes ssh-keygen, so that `sleep` is its child.
      let command = "sleep 60 & exec /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key)"
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/sh", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "Esc: cancel)")
      terminal.type(CancelKey.escape.rawValue)
      #expect(try await terminal.status() != 0)
      #expect(terminal.isAsFound)
    }
  }

  @Test("whorl-agent restores its client's terminal before Ctrl-C reaches the client")
  func interrupted() async throws {
    try await with(access: "presence") { agent, key, _ in
      let command = """
        trap 'stty -a; echo caught; exit 3' INT; /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key); sleep 20
        """
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/sh", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "Esc: cancel)")
      terminal.type("\u{3}")
      #expect(try await terminal.status() == 3)
      #expect(terminal.shown.contains("isig icanon iexten echo "))
      try await agent.waits { $0.contains { $0.contains("refused to sign a file") } }
      #expect(terminal.isAsFound)
    }
  }

  @Test("whorl-agent leaves the terminal to the shell while its client is stopped, and then reads keys again")
  func stoppedClient() async throws {
    try await with(access: "presence") { agent, key, _ in
      let command = """
        set -m; /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key); echo stopped
        read -r line; echo "read <$line>"; fg; echo "ended with $?"
        """
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/bash", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "Esc: cancel)")
      terminal.type("\u{1A}")
      try await terminal.waits(for: "stopped")
      try await terminal.becomes(echoing: true)
      terminal.type("for the shell\n")
      try await terminal.waits(for: "read <for the shell>")
      try await terminal.becomes(echoing: false)
      terminal.type(CancelKey.escape.rawValue)
      try await terminal.waits(for: "ended with")
      #expect(!terminal.shown.contains("ended with 0"))
      try await terminal.becomes(echoing: true)
    }
  }

  @Test("whorl-agent that is ended in a prompt restores its client's terminal")
  func endedAgent() async throws {
    let client = Mutex<PseudoTerminal?>(nil)
    try await with(access: "presence") { agent, key, _ in
      let terminal = try sign(key, agent)
      try await terminal.waits(for: "Esc: cancel)")
      client.withLock { $0 = terminal }
    }
    let terminal = try #require(client.withLock { $0 })
    #expect(terminal.isAsFound)
    #expect(try await terminal.status() != 0)
  }

  @Test("whorl-agent shows nothing on the terminal of a background client")
  func background() async throws {
    try await with(access: "presence", [.right]) { agent, key, _ in
      let command = "set -m; /usr/bin/ssh-keygen -Y sign -n file -f \(key) \(key) & wait; echo done"
      let terminal = try PseudoTerminal(
        ["-c", command], program: "/bin/bash", environment: ["SSH_AUTH_SOCK": agent.socket])
      try await terminal.waits(for: "done")
      #expect(!terminal.shown.contains("the reader"))
      #expect(agent.lines.contains { $0.contains("Swipe the reader") })
    }
  }

  /// Mounts terminals of its own in a new mount namespace.
  private static let ownTerminals = [
    "-U", "-r", "-m", "mount", "-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", "/dev/pts",
  ]

  @Test(
    "whorl-agent shows nothing on a terminal that has the name of its client's in another mount namespace",
    .enabled("a user may have a namespace with terminals of its own here") {
      try await Invocation(program: "/usr/bin/unshare", arguments: ownTerminals).run().status == 0
    })
  func otherNamespace() async throws {
    try await with(access: "presence", [.right]) { agent, key, _ in
      let other = try PseudoTerminal(["-c", "tty; echo ready; exec sleep 60"], program: "/bin/sh")
      defer { other.signal(SIGKILL) }
      try await other.waits(for: "ready")
      let name = try #require(other.shown.split(whereSeparator: \.isWhitespace).first)
      let number = try #require(name.split(separator: "/").last)
      // Open terminals to use up the lower numbers.
      let script = """
        mount -t devpts -o newinstance,ptmxmode=0666 devpts /dev/pts
        for _ in $(seq \(number)); do exec {terminal}<>/dev/ptmx; done
        exec script -qec "tty; ssh-keygen -Y sign -n file -f \(key) \(key)" /dev/null
        """
      let terminal = try PseudoTerminal(
        ["-U", "-r", "-m", "bash", "-ec", script], program: "/usr/bin/unshare",
        environment: ["SSH_AUTH_SOCK": agent.socket])
      #expect(try await terminal.status() == 0, "\(terminal.shown) \(agent.lines)")
      #expect(terminal.shown.contains(name))
      #expect(agent.lines.contains { $0.contains("Swipe the reader") })
      #expect(!other.shown.contains("the reader"))
    }
  }

  /// The script of a pinentry that answers with the passcode, and records its input and whether its terminal echoes.
  private func answeringPinentry(_ folder: String) -> String {
    """
    echo "OK"
    while read -r word rest; do
      case $word in
        GETPIN) echo "D \(TestStore.passcode)"; echo OK ;;
        *)
          echo "$word $rest" >>\(folder)/asked
          case $rest in ttyname=*) stty -F "${rest#ttyname=}" | grep -q -e -echo || echo echoes >>\(folder)/asked ;; esac
          echo OK ;;
      esac
    done
    """
  }

  @Test("whorl-agent has pinentry ask for the passcode on its client's terminal")
  func passcode() async throws {
    try await with(access: "passcode", pinentry: answeringPinentry) { agent, key, folder in
      let terminal = try sign(key, agent)
      #expect(try await terminal.status() == 0, "\(terminal.shown) \(agent.lines)")
      let asked = String(decoding: try readFile("\(folder)/asked"), as: UTF8.self)
      #expect(asked.contains("OPTION ttyname=/dev/pts/"))
      #expect(asked.contains("OPTION ttytype=xterm"))
    }
  }
}
