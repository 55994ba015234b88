import Foundation
import Testing

@Suite("Restarts of the units")
struct UnitRestartTests {
  /// The lines of the units that decide about starts and restarts.
  private static let deciding = [
    "[Unit]", "[Socket]", "[Service]", "StartLimit", "Requires=", "Type=", "Restart", "TriggerLimit", "FlushPending=",
  ]

  /// A service that crashes after each connection, as long as there is no file `bad` with which it does not start at all.
  private static let program = """
    import os, signal, socket, sys
    if os.path.exists(sys.argv[1] + "/bad"): sys.exit(78)
    listening = socket.socket(fileno=3)
    place = os.environ.get("NOTIFY_SOCKET", "").replace("@", "\\0", 1)
    if place: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", place)
    listening.accept()[0].sendall(b"answer")
    os.kill(os.getpid(), signal.SIGSEGV)
    """

  /// Runs a service manager of its own in the folder, and connects to the socket of the unit again and again. `stays` is
  /// printed if all are answered, then how a client fares with a service that cannot be started, and after it can.
  private static let driver = """
    import os, socket, subprocess, sys, time
    folder, unit, kind = sys.argv[1:4]
    manager = subprocess.Popen(["/lib/systemd/systemd", "--user"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    def control(*words): return subprocess.run(["systemctl", "--user", *words], capture_output=True, text=True)
    for _ in range(100):
      if control("start", unit + ".socket").returncode == 0: break
      time.sleep(0.1)
    def ask():
      client = socket.socket(socket.AF_UNIX, getattr(socket, "SOCK_" + kind))
      client.settimeout(20)
      client.connect(folder + "/socket")
      return client.recv(100)
    def answered():
      # A connection that comes before systemd has seen the crash is refused.
      for _ in range(50):
        if ask() == b"answer": return True
        time.sleep(0.05)
      return False
    try:
      for number in range(25 if unit != "whorl-fido" and unit != "whorld" else 8):
        if not answered(): sys.exit(f"no answer after {number} crashes")
      print("stays")
      if "FlushPending=yes" in open(f"{folder}/systemd/user/{unit}.socket").read():
        open(folder + "/bad", "w").close()
        begin = time.monotonic()
        # What still runs ends with this one.
        ask()
        for _ in range(6):
          if ask() != b"": sys.exit("answered by a service that cannot start")
        print("refused" if time.monotonic() - begin < 15 else "slow")
        os.unlink(folder + "/bad")
        if not answered(): sys.exit("no answer after it can start again")
        print("answers again")
    except OSError as error:
      sys.exit(f"{error}: {control('status', unit + '.service', unit + '.socket').stdout}")
    finally:
      manager.terminate()
      manager.wait()
    """

  @Test(
    "a unit that crashes again and again, or cannot be started for a while, is never left failed",
    .enabled(if: geteuid() == 0 && access("/lib/systemd/systemd", X_OK) == 0, "needs root and systemd"),
    arguments: [
      ("systemd/whorld", "STREAM"), ("systemd/whorl-reader-libfprint", "STREAM"),
      ("systemd/whorl-reader-fprintd", "STREAM"), ("systemd/whorl-program-path", "STREAM"),
      ("systemd/whorl-fido", "SEQPACKET"), ("ssh-agent/whorl-agent", "STREAM"),
    ])
  func crashes(unit: String, kind: String) async throws {
    let name = String(unit.split(separator: "/")[1])
    try await withTemporaryFolder { folder in
      let units = folder.appending(path: "systemd/user")
      try FileManager.default.createDirectory(at: units, withIntermediateDirectories: true)
      try Self.program.write(to: folder.appending(path: "program.py"), atomically: true, encoding: .utf8)
      try Self.driver.write(to: folder.appending(path: "driver.py"), atomically: true, encoding: .utf8)
      let own = [
        "[Socket]": "Listen\(kind == "STREAM" ? "Stream" : "SequentialPacket")=\(folder.path)/socket",
        "[Service]": "ExecStart=python3 \(folder.path)/program.py \(folder.path)",
      ]
      for suffix in ["service", "socket"] {
        let lines = try Repository.text("data/\(unit).\(suffix)").split(separator: "\n").filter { line in
          Self.deciding.contains { line.hasPrefix($0) }
        }.flatMap { line in [String(line)] + [own[String(line)]].compactMap(\.self) }
        try (lines.joined(separator: "\n") + "\n").write(
          to: units.appending(path: "\(name).\(suffix)"), atomically: true, encoding: .utf8)
      }
      // The manager starts only where systemd seems to run.
      let script = """
        mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0 &&
          exec python3 \(folder.path)/driver.py \(folder.path) \(name) \(kind)
        """
      let result = try await run(
        "unshare", ["-m", "--propagation", "private", "sh", "-c", script],
        environment: ["XDG_RUNTIME_DIR": "/run/user/0", "XDG_CONFIG_HOME": folder.path])
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      #expect(result.output.hasPrefix("stays\n") && !result.output.contains("slow"), "\(result.output)")
    }
  }

  @Test("no unit of the system has a limit after which only root could start it again, and each waits before a restart")
  func limits() throws {
    let folder = Repository.root.appending(path: "data/systemd")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count >= 10)
    for name in names {
      let lines = try Repository.text("data/systemd/\(name)").split(separator: "\n")
      #expect(lines.contains("StartLimitIntervalSec=0"), "\(name)")
      if name.hasSuffix(".socket") {
        #expect(lines.contains("TriggerLimitIntervalSec=0"), "\(name)")
        #expect(!lines.contains { $0.hasPrefix("TriggerLimitBurst=") }, "\(name)")
      } else {
        #expect(lines.contains { $0 == "Restart=on-failure" || $0 == "Restart=always" }, "\(name)")
        #expect(lines.contains { $0.hasPrefix("RestartSec=") && $0 != "RestartSec=0" }, "\(name)")
        #expect(!lines.contains { $0.hasPrefix("RestartPreventExitStatus=") }, "\(name)")
      }
    }
  }
}
