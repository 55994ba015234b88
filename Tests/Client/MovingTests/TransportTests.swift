import Glibc
import Moving
import ProgramDriver
import SecretModel
import Testing

/// The server of the remote over ssh.
private let sshd = "/usr/sbin/sshd"

private var hasSSHServer: Bool {
  let has = access(sshd, X_OK) == 0
  if !has { print("skipped: there is no \(sshd)") }
  return has
}

@Suite("A remote that is reached")
struct TransportTests {
  /// Publishes with one machine and takes with another.
  private func exchange(_ url: String, _ environment: [String], in folder: String) async throws {
    let one = try await Machine.named(
      "one", in: folder, PretendVault(["circle/a": "1", "items/x": "secret"]), url: url, environment: environment)
    #expect(try await one.sync().published == 3)
    let two = try await Machine.named("two", in: folder, PretendVault([:]), url: url, environment: environment)
    #expect(try await two.sync().taken == 3)
    #expect(two.vault.files == one.vault.files)
  }

  @Test(
    "sync over ssh works with the user's own command and key, and without the key ssh's error is reported",
    .enabled(if: hasSSHServer))
  func ssh() async throws {
    try await withRemote { folder in
      mkdir("/run/sshd", 0o755)
      for key in ["host", "user", "stranger"] {
        try await Invocation(
          program: "/usr/bin/ssh-keygen", arguments: ["-q", "-t", "ed25519", "-N", "", "-f", "\(folder)/\(key)"]
        ).run().mustSucceed()
      }
      chmod(folder, 0o755)
      try writeFile("\(folder)/allowed", try readFile("\(folder)/user.pub"))
      try writeFile(
        "\(folder)/sshd_config",
        Array(
          """
          HostKey \(folder)/host
          AuthorizedKeysFile \(folder)/allowed
          UsePAM no
          StrictModes no
          PermitRootLogin yes

          """.utf8))
      func ssh(_ key: String) -> [String] {
        [
          "GIT_SSH_COMMAND=ssh -F none -o IdentityFile=\(folder)/\(key) -o IdentitiesOnly=yes -o IdentityAgent=none "
            + "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes "
            + "-o 'ProxyCommand=\(sshd) -i -f \(folder)/sshd_config'"
        ]
      }
      try await exchange("localhost:\(folder)/remote", ssh("user"), in: folder)
      let three = try await Machine.named(
        "three", in: folder, PretendVault([:]), url: "ssh://localhost\(folder)/remote", environment: ssh("stranger"))
      await #expect {
        try await three.sync()
      } throws: { error in
        if case SyncRunError.unanswered(let reason) = error { reason.contains("denied") } else { false }
      }
    }
  }

  @Test("sync over https works, and an unknown certificate is refused")
  func https() async throws {
    try await withRemote { folder in
      try await git("config", "http.receivepack", "true", in: "\(folder)/remote")
      try await Invocation(
        program: "/usr/bin/openssl",
        arguments: [
          "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
          "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "\(folder)/key", "-out",
          "\(folder)/certificate",
        ]
      ).run().mustSucceed()
      try writeFile("\(folder)/server.py", Array(Self.server.utf8))
      let server = try Invocation(
        program: "/usr/bin/python3",
        arguments: ["\(folder)/server.py", folder, "\(folder)/certificate", "\(folder)/key", "\(folder)/port"]
      ).start()
      defer {
        server.signal(SIGTERM)
        _ = server.finish { _, _ in }
      }
      var port = ""
      for _ in 1...1_000 where port.isEmpty {
        try await Task.sleep(for: .milliseconds(50))
        port = (try? readFile("\(folder)/port")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      }
      let url = "https://localhost:\(port)/remote"
      try await exchange(url, ["GIT_SSL_CAINFO=\(folder)/certificate"], in: folder)
      let three = try await Machine.named("three", in: folder, PretendVault([:]), url: url)
      await #expect {
        try await three.sync()
      } throws: { error in
        if case SyncRunError.unreachable(let reason) = error { reason.contains("certificate") } else { false }
      }
    }
  }

  /// A server of git's own `http-backend`.
  private static let server = """
    import http.server, os, ssl, subprocess, sys
    root, certificate, key, port = sys.argv[1:]

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words): pass
        def do_GET(self): self.answer(b"")
        def do_POST(self):
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.answer(self.rfile.read(int(self.headers["Content-Length"])))
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.answer(body)
        def answer(self, body):
            path, _, query = self.path.partition("?")
            environment = {
                "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "x", "REMOTE_ADDR": "127.0.0.1",
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "SERVER_PROTOCOL": "HTTP/1.0",
            }
            made = subprocess.run(["git", "http-backend"], input=body, env=environment, stdout=subprocess.PIPE).stdout
            head, _, content = made.partition(b"\\r\\n\\r\\n")
            fields = [line.split(": ", 1) for line in head.decode().split("\\r\\n")]
            self.send_response(next((int(value[:3]) for name, value in fields if name == "Status"), 200))
            for name, value in fields:
                if name != "Status": self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with open(port + ".new", "w") as file: file.write(str(server.server_port))
    os.rename(port + ".new", port)
    server.serve_forever()

    """
}
