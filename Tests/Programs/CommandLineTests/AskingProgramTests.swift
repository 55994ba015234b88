import Glibc
import ProgramDriver
import Testing

/// The lines of docs/programs.md, with the real programs.
@Suite("Programs that ask whorl for a secret")
struct AskingProgramTests {
  private static let password = "pass \"word\""

  /// A program, and a shell script that prints the last line `found` if the program has got the password.
  struct Line: CustomTestStringConvertible {
    let programs: [String]
    let script: String

    var testDescription: String { programs[0] }

    static let all = [
      Line(
        programs: ["restic"],
        script: """
          run() { restic --no-cache -r "$HOME/r" --password-command 'whorl get secret' "$@"; }
          run init && run backup data && run ls latest | grep -q data/file && echo found
          """),
      Line(
        programs: ["borg"],
        script: """
          export BORG_PASSCOMMAND='whorl get secret'
          borg init --encryption=repokey "$HOME/b" && borg create "$HOME/b::a" data && borg list "$HOME/b::a" |
            grep -q data/file && ! BORG_PASSCOMMAND='echo wrong' borg list "$HOME/b" && echo found
          """),
      Line(
        programs: ["ansible-vault"],
        script: #"""
          printf '#!/bin/sh\nexec whorl get secret\n' > vault-whorl; chmod +x vault-whorl; cp data/file v.yml
          ansible-vault encrypt --vault-password-file ./vault-whorl v.yml && ! grep -q hello v.yml &&
            ansible-vault view --vault-password-file ./vault-whorl v.yml | grep -q hello && echo found
          """#),
      Line(
        // The configuration was encrypted by rclone, under the password "pass word".
        programs: ["rclone"],
        script: #"""
          mkdir -p .config/rclone
          { printf '# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\n'
            echo pU8SGDF4wsgTCl1BV8ZSofc3LY0oy3szEtO3KizkekaeYwCXBUux8pCQj0npneko+z4RQkKO6JhMfJCy; } \
            > .config/rclone/rclone.conf
          rclone --password-command 'whorl get plain' lsf loc:data | grep -q file && echo found
          """#),
      Line(
        programs: ["curl", "python3"],
        script: #"""
          echo 'machine 127.0.0.1 login ann password "{{ whorl://plain }}"' > netrc
          whorl inject --in netrc | curl -s --netrc-file /dev/stdin "http://127.0.0.1:$PORT/"
          grep -q "$(printf 'ann:pass word' | base64)" heard && echo found
          """#),
      Line(
        programs: ["aws", "python3"],
        script: #"""
          echo '{"Version": 1, "AccessKeyId": {{ json whorl://plain }}, "SecretAccessKey": {{ json whorl://secret }}}' > aws.json
          mkdir .aws
          printf '[default]\nregion = us-east-1\ncredential_process = whorl inject --in %s/aws.json\n' "$HOME" > .aws/config
          aws --endpoint-url "http://127.0.0.1:$PORT" s3api list-buckets
          grep -q 'Credential=pass word/' heard && echo found
          """#),
    ]
  }

  /// A server that writes what it hears into a file.
  private static let server = #"""
    import http.server
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            with open("heard", "a") as heard: heard.write(str(self.headers))
            body = b"<ListAllMyBucketsResult><Buckets></Buckets></ListAllMyBucketsResult>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    with open("port.new", "w") as port: port.write(str(server.server_port))
    import os; os.rename("port.new", "port")
    server.serve_forever()
    """#

  @Test("a program gets its secret from whorl as docs/programs.md says", arguments: Line.all)
  func line(_ line: Line) async throws {
    for program in line.programs where access("/usr/bin/\(program)", X_OK) != 0 {
      return print("skipped: \(program) is not installed in /usr/bin")
    }
    try await TestStore.with { store in
      try await store.set("secret", Self.password, "--access", "none")
      try await store.set("plain", "pass word", "--access", "none")
      let home = store.folder
      for folder in ["bin", "data"] { try #require(mkdirPrivate("\(home)/\(folder)")) }
      try writeFile("\(home)/data/file", Array("hello\n".utf8))
      // The lines name no store.
      try writeFile(
        "\(home)/bin/whorl",
        Array("#!/bin/sh\nexec '\(try Programs.path("whorl"))' \"$@\" --store '\(store.directory)'\n".utf8))
      chmod("\(home)/bin/whorl", 0o700)
      try writeFile("\(home)/server.py", Array(Self.server.utf8))
      let serving =
        line.programs.contains("python3")
        ? """
        /usr/bin/python3 server.py 2>/dev/null & server=$!; trap 'kill $server' EXIT
        while ! test -e port; do sleep 0.1; done; PORT=$(cat port)
        """ : ""
      let result = try await Invocation(
        program: "/bin/sh", arguments: ["-c", "cd \"$HOME\"\n\(serving)\n\(line.script)"],
        environment: ["HOME": home, "PATH": "\(home)/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
      ).run()
      #expect(result.text.hasSuffix("found\n"), "\(result.text)\(result.diagnostics)")
    }
  }

  @Test("a file of credentials for kubectl is JSON for every token")
  func kubectl() async throws {
    try await TestStore.with { store in
      try await store.set("kube/token", Self.password, "--access", "none")
      let filled = try await store.whorl(
        "inject",
        input: Array(
          #"{"kind": "ExecCredential", "status": {"token": {{ json whorl://kube/token }}}}"#.utf8))
      #expect(filled.text == #"{"kind": "ExecCredential", "status": {"token": "pass \"word\""}}"#)
    }
  }
}
