import Foundation
import Glibc
import ProgramDriver
import Synchronization
import Testing

@Suite("whorl docker-credential")
struct DockerCredentialTests {
  /// Runs the command as docker does.
  private func docker(_ action: String, _ request: String, _ options: String..., in store: TestStore) async throws
    -> Invocation.Result
  {
    try await Invocation(
      arguments: store.arguments(["docker-credential"] + options + [action]), input: Array(request.utf8)
    ).run()
  }

  private func store(
    _ server: String, _ user: String, _ secret: String, access: String = "none", in store: TestStore
  ) async throws {
    let request = #"{"ServerURL":"\#(server)","Username":"\#(user)","Secret":"\#(secret)"}"#
    let stored = try await docker("store", request, "--access", access, in: store)
    try stored.mustSucceed()
    #expect(stored.output.isEmpty)
  }

  /// An answer of `get` or `list`.
  private func members(_ result: Invocation.Result) throws -> [String: String] {
    try result.mustSucceed()
    return try JSONDecoder().decode([String: String].self, from: Data(result.output))
  }

  @Test("whorl docker-credential prints its name and version without a store")
  func version() async throws {
    let result = try await Invocation(
      arguments: ["docker-credential", "version", "--store", "/nonexistent"]
    ).run()
    #expect(result.status == 0)
    #expect(result.text.wholeMatch(of: /docker-credential-whorl [0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(result.text)")
  }

  @Test("whorl docker-credential returns what docker has stored, with every JSON escape")
  func roundTrip() async throws {
    try await TestStore.with { store in
      try await self.store(
        "c.test", #"t\u00f6n\u0079 \uD83D\udE00"#, #"a\"b\\c\/d\b\f\n\r\t\u0001 ✓ \u20AC<>&"#, in: store)
      let got = try members(try await docker("get", "c.test\n", in: store))
      #expect(
        got == [
          "ServerURL": "c.test", "Username": "töny 😀", "Secret": "a\"b\\c/d\u{8}\u{C}\n\r\t\u{1} ✓ €<>&",
        ])
      let twice = #"{"ServerURL":"d.test","Username":"ann","Secret":"one","Secret":"two","ServerURL":"c.test"}"#
      try await docker("store", twice, in: store).mustSucceed()
      #expect(try members(try await docker("get", "c.test", in: store))["Secret"] == "two")
      try await self.store("c.test", "ann", "", in: store)
      #expect(try members(try await docker("get", "c.test", in: store))["Secret"]?.isEmpty == true)
    }
  }

  @Test("whorl docker-credential keeps every registry name as it is, and distinguishes similar ones")
  func names() async throws {
    let names = [
      "https://index.test/v1/", "https://index.test/v1/access-token", "index.test", "c.test",
      "https://c.test", "http://c.test", "c.test/", "c.test/team/one", "localhost:5000", "localhost:05000",
      "localhost", "localhost:", "[::1]:5000", "[::1]", "htps://c.test", "oci://c.test", "://", "/", "bücher.example",
      "a:0", "a:65536", ":5000",
    ]
    try await TestStore.with { store in
      for (number, name) in names.enumerated() {
        try await self.store(name, "user\(number)", "secret\(number)", in: store)
      }
      for (number, name) in names.enumerated() {
        let got = try members(try await docker("get", name, in: store))
        #expect(got == ["ServerURL": name, "Username": "user\(number)", "Secret": "secret\(number)"])
      }
      let listed = try members(try await docker("list", "unused", in: store))
      let expected = names.enumerated().map { ($1, "user\($0)") }
      #expect(listed == Dictionary(uniqueKeysWithValues: expected))
    }
  }

  @Test("docker-credential prints docker's own messages on standard output: no credentials, no server, no user")
  func knownFailures() async throws {
    try await TestStore.with { store in
      let failures = [
        ("get", "c.test", "credentials not found in native keychain\n"),
        ("get", " \n", "no credentials server URL\n"), ("erase", "", "no credentials server URL\n"),
        ("store", #"{"Username":"ann","Secret":"s"}"#, "no credentials server URL\n"),
        ("store", #"{"ServerURL":"","Username":"ann","Secret":"s"}"#, "no credentials server URL\n"),
        ("store", #"{"ServerURL":"c.test","Secret":"s"}"#, "no credentials username\n"),
        ("store", #"{"ServerURL":"c.test","Username":"","Secret":"s"}"#, "no credentials username\n"),
      ]
      for (action, request, text) in failures {
        let result = try await docker(action, request, in: store)
        #expect(result.status == 1, "\(action) \(request)")
        #expect(result.text == text)
        #expect(result.diagnostics.isEmpty)
      }
      #expect(try await docker("list", "", in: store).text == "{}\n")
    }
  }

  @Test("docker-credential has one credential for a registry: a second user's replaces it and keeps the rule")
  func oneForEach() async throws {
    try await TestStore.with { store in
      try await self.store("c.test", "ann", "one", in: store)
      try await self.store("c.test", "ann", "two", access: "presence", in: store)
      #expect(try members(try await docker("get", "c.test", "--no-prompt", in: store))["Secret"] == "two")
      try await self.store("c.test", "bob", "three", access: "presence", in: store)
      #expect(try members(try await docker("get", "c.test", "--no-prompt", in: store))["Secret"] == "three")
      #expect(try await store.whorl("ls").text.split(separator: "\n").count == 1)
    }
  }

  @Test("whorl docker-credential erases the credential of one registry alone; erasing a missing one succeeds")
  func erase() async throws {
    try await TestStore.with { store in
      try await self.store("c.test", "ann", "one", access: "presence", in: store)
      try await self.store("c.test/team", "ann", "two", access: "presence", in: store)
      for _ in 1...2 { try await docker("erase", "c.test", in: store).mustSucceed() }
      #expect(try members(try await docker("list", "", in: store)) == ["c.test/team": "ann"])
    }
  }

  @Test("git's password for a server is another item than docker's credential for it")
  func apartFromGit() async throws {
    try await TestStore.with { store in
      try await self.store("https://c.test", "ann", "of docker", in: store)
      func git(_ action: String, _ more: String) async throws -> String {
        let request = Array("protocol=https\nhost=c.test\n\(more)".utf8)
        let words = ["git-credential", "--access", "none", action]
        return try await Invocation(arguments: store.arguments(words), input: request).run().text
      }
      #expect(try await git("get", "").isEmpty)
      _ = try await git("store", "username=ann\npassword=of git\n")
      #expect(try await git("get", "") == "username=ann\npassword=of git\n")
      #expect(try members(try await docker("get", "https://c.test", in: store))["Secret"] == "of docker")
      _ = try await git("erase", "username=ann\n")
      #expect(try members(try await docker("list", "", in: store)) == ["https://c.test": "ann"])
    }
  }

  @Test("a new docker credential needs a finger, after a prompt that names the registry, and listing needs none")
  func touch() async throws {
    try await TestStore.enrolled { store in
      try await docker("store", #"{"ServerURL":"c.test","Username":"ann","Secret":"one"}"#, in: store).mustSucceed()
      #expect(try members(try await docker("list", "", "--no-prompt", in: store)) == ["c.test": "ann"])
      let refused = try await docker("get", "c.test", "--no-prompt", in: store)
      #expect(refused.status == 77)
      #expect(refused.output.isEmpty)
      let got = try await store.touched(["docker-credential", "get"], [.right], input: Array("c.test".utf8))
      #expect(try members(got)["Secret"] == "one")
      #expect(got.diagnostics.contains("docker: sign in to c.test"))
    }
  }

  @Test("docker-credential refuses input that is not a JSON object of strings, in one line, and unknown actions")
  func badInput() async throws {
    let good = #""ServerURL":"c.test","Username":"ann","Secret""#
    let requests = [
      "", "{", "[]", "null", "{\(good)}", "{\(good):}", "{\(good):1}", "{\(good):null}", "{\(good):{}}",
      "{\(good):\"s\"", "{\(good):\"s\",}", "{\(good):\"s\"}}", "{\(good):\"s\"} {}", "{\(good):\"s}",
      "{\(good):\"\\x\"}", "{\(good):\"\\u12G4\"}", "{\(good):\"\\u12\"}", "{\(good):\"\\uD83D\"}",
      "{\(good):\"\\uD83Dx\"}", "{\(good):\"\\uD83D\\u0041\"}", "{\(good):\"\\uDE00\"}", "{\(good):\"a\nb\"}",
      "{\(good):'s'}", "{ServerURL:\"c.test\"}",
    ]
    try await TestStore.with { store in
      for request in requests {
        let refused = try await docker("store", request, in: store)
        #expect(refused.status == 64, "\(request)")
        #expect(
          refused.failure.hasPrefix("whorl: docker-credential: standard input is not a JSON object of strings"),
          "\(request): \(refused.failure)")
        #expect(refused.output.isEmpty)
      }
      let unknown = try await docker("rename", "", in: store)
      #expect(unknown.status == 64)
      #expect(try await docker("get", "c.test two", in: store).status == 64)
      #expect(try await store.whorl("ls").output.isEmpty)
    }
  }

  @Test("whorl docker-credential stores a secret of the maximum length, and refuses a longer one")
  func long() async throws {
    try await TestStore.with { store in
      let secret = String(repeating: "\"", count: 1 << 20)
      try await self.store("c.test", "ann", String(repeating: #"\u0022"#, count: 1 << 20), in: store)
      #expect(try members(try await docker("get", "c.test", in: store))["Secret"] == secret)
      let longer = try await docker(
        "store", #"{"ServerURL":"x","Username":"ann","Secret":"\#(secret.replacing("\"", with: "x"))y"}"#, in: store)
      #expect(longer.status == 64, "\(longer.failure)")
    }
  }

  @Test(
    "docker login stores a credential with docker-credential, docker pull uses it, and docker logout erases it",
    .enabled(
      if: ["/usr/local/bin/docker", "/usr/bin/docker"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
      }))
  func realDocker() async throws {
    try await TestStore.with { store in
      let command = "\(try Programs.path("whorl")) docker-credential --access none --store \(store.directory)"
      let helper = "#!/bin/sh\nexec \(command) \"$@\"\n"
      try writeFile("\(store.folder)/docker-credential-tested", Array(helper.utf8))
      chmod("\(store.folder)/docker-credential-tested", 0o755)
      try writeFile("\(store.folder)/config.json", Array(#"{"credsStore":"tested"}"#.utf8))
      try await withRegistry { port in
        func run(
          _ words: String..., input: String = "", daemon: String = "unix:///nonexistent"
        ) async throws -> Invocation.Result {
          try await Invocation(
            program: "/usr/bin/env", arguments: ["docker"] + words, input: Array(input.utf8),
            environment: [
              "PATH": "\(store.folder):/usr/local/bin:/usr/bin:/bin", "HOME": store.folder,
              "DOCKER_CONFIG": store.folder, "DOCKER_HOST": daemon,
            ]
          ).run()
        }
        let registry = "127.0.0.1:\(port)"
        try await run("login", "--username", "ann", "--password-stdin", registry, input: "\"p=\\w ✓").mustSucceed()
        let kept = try members(try await docker("get", registry, in: store))
        #expect(kept == ["ServerURL": registry, "Username": "ann", "Secret": "\"p=\\w ✓"])
        let pulled = try await run("pull", "\(registry)/image", daemon: "tcp://\(registry)")
        #expect(pulled.status == 0, "\(pulled.diagnostics)")
        try await run("logout", registry).mustSucceed()
        #expect(try members(try await docker("list", "", in: store)).isEmpty)
        #expect(try await run("pull", "\(registry)/image", daemon: "tcp://\(registry)").status != 0)
      }
    }
  }

  private final class Running: Sendable {
    let port = Mutex("")
    let isOver = Atomic(false)
  }

  /// Runs a registry on a local port that accepts the user "ann". It is also a daemon of docker, which pulls images for
  /// her alone.
  private func withRegistry(_ body: (String) async throws -> Void) async throws {
    let script = """
      import base64, http.server, json, sys
      user, password = 'ann', '"p=\\\\w ✓'
      class Registry(http.server.BaseHTTPRequestHandler):
          def answer(self, status):
              self.send_response(status)
              if status == 401: self.send_header('WWW-Authenticate', 'Basic realm="x"')
              self.send_header('Api-Version', '1.44')
              self.send_header('Content-Length', '0')
              self.end_headers()
          def do_GET(self):
              expected = 'Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()
              self.answer(200 if self.headers.get('Authorization') == expected else 401)
          # docker asks its daemon whether it is there, and then to pull.
          def do_HEAD(self): self.answer(200)
          def do_POST(self):
              given = json.loads(base64.urlsafe_b64decode(self.headers['X-Registry-Auth']))
              self.answer(200 if (given.get('username'), given.get('password')) == (user, password) else 403)
          def log_message(self, *_): pass
      server = http.server.HTTPServer(('127.0.0.1', 0), Registry)
      print(server.server_port, file=sys.stderr, flush=True)
      server.serve_forever()
      """
    let state = Running()
    let registry = try Invocation(program: "/usr/bin/python3", arguments: ["-c", script]).start()
    startThread {
      _ = registry.finish { line, _ in state.port.withLock { if $0.isEmpty { $0 = line } } }
      state.isOver.store(true, ordering: .releasing)
    }
    let result: Result<Void, any Error>
    do {
      while state.port.withLock({ $0.isEmpty }), !state.isOver.load(ordering: .acquiring) {
        try await Task.sleep(for: .milliseconds(5))
      }
      result = .success(try await body(state.port.withLock { $0 }))
    } catch {
      result = .failure(error)
    }
    registry.signal(SIGTERM)
    while !state.isOver.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(5)) }
    try result.get()
  }
}
