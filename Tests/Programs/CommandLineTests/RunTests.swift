import Glibc
import ProgramDriver
import Testing

@Suite("whorl run")
struct RunTests {
  @Test("a command of whorl run gets the secrets in its environment, and its exit status is returned")
  func runs() async throws {
    try await TestStore.with { store in
      try await store.set("a", "first secret", "--access", "none")
      try await store.set("b/c", "second=secret", "--access", "none")
      let result = try await store.whorl(
        "run", "--env", "ONE=a", "--env", "TWO=b/c", "--", "/bin/sh", "-c", #"echo "$ONE|$TWO|$KEPT"; exit 7"#,
        environment: ["KEPT": "kept", "ONE": "replaced"])
      #expect(result.text == "first secret|second=secret|kept\n")
      #expect(result.status == 7)
      #expect(result.diagnostics.isEmpty)
    }
  }

  @Test("whorl run ends with the status of a command that was killed")
  func killed() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/sh", "-c", "kill -TERM $$")
      #expect(result.status == 128 + SIGTERM)
    }
  }

  @Test("whorl run of a missing command gives 127, of one that is not executable 126, before any prompt")
  func commands() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let missing = try await store.whorl("run", "--env", "A=a", "--", "no-such-command")
      #expect(missing.status == 127)
      #expect(missing.diagnostics == "whorl: run: no-such-command: command not found: look at its name and at PATH\n")
      #expect(try await store.whorl("run", "--env", "A=a", "--", "").status == 127)
      #expect(try await store.whorl("run", "--env", "A=a", "--", "/etc/passwd").status == 126)
      #expect(try await store.whorl("run", "--env", "A=a", "--", "/etc").status == 126)
    }
  }

  @Test("whorl run refuses a secret that is too long for an environment variable, and names another way to read it")
  func long() async throws {
    try await TestStore.with { store in
      try await store.set("a", String(repeating: "x", count: 200_000), "--access", "none")
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/echo", "ran")
      #expect(result.status == 126)
      #expect(result.output.isEmpty)
      #expect(result.failure.contains("whorl get"), "\(result.failure)")
    }
  }

  @Test("whorl run refuses a secret with a NUL before anything runs")
  func nul() async throws {
    try await TestStore.with { store in
      #expect(try await store.whorl("set", "a", "--access", "none", input: [1, 0, 2]).status == 0)
      let result = try await store.whorl("run", "--env", "A=a", "--", "/bin/echo", "ran")
      #expect(result.status == 65)
      #expect(result.output.isEmpty)
    }
  }

  @Test("whorl run replaces itself with the command, which has the original signals and limits")
  func becomes() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      let probe = #"""
        grep -E '^(Sig(Blk|Ign)|Name)' /proc/self/status; ulimit -c; umask; ls /proc/self/fd | tr '\n' ' '
        """#
      let direct = try await Invocation(program: "/bin/sh", arguments: ["-c", probe]).run()
      let through = try await Invocation(
        arguments: store.arguments(["run", "--env", "A=a", "--", "/bin/sh", "-c", probe])
      ).run()
      // The C library uses signals 32 and 33 for its threads.
      func comparable(_ text: String) -> [String] {
        text.split(separator: "\n").map { line in
          guard line.hasPrefix("SigIgn"), let mask = UInt64(line.suffix(16), radix: 16) else { return String(line) }
          return "SigIgn \(mask & ~(3 << 31))"
        }
      }
      #expect(comparable(through.text) == comparable(direct.text))
    }
  }

  @Test("whorl run has the shell run a script without a #! line")
  func script() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x", "--access", "none")
      try writeFile("\(store.folder)/script", Array("echo script $A $1\n".utf8))
      chmod("\(store.folder)/script", 0o700)
      #expect(
        try await store.whorl("run", "--env", "A=a", "--", "\(store.folder)/script", "word").text == "script x word\n")
    }
  }

  @Test("a command of whorl run does not get the passcode's descriptor")
  func descriptors() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let result = try await store.unlocked("run", "--env", "A=a", "--", "/bin/sh", "-c", "echo $A; cat <&3")
      #expect(result.text == "x\n")
      #expect(result.status != 0)
    }
  }

  @Test("whorl run reads variables from a file, in which whorl:// names secrets")
  func file() async throws {
    try await TestStore.with { store in
      try await store.set("db/app", "p w'", "--access", "none")
      try await store.set("a#totp", "seed", "--access", "none")
      try writeFile(
        "\(store.folder)/env",
        Array(
          """
          # comment

          PLAIN=a b=c
          EMPTY=
          QUOTED='a "$b" \\ #'
          DOUBLE="it's"
          WHOLE=whorl://db/app
          SEED="whorl://a#totp"
          BARE=whorl://a#totp
          URL=db://app:{{ whorl://db/app }}@host/
          JSON='{"pw": {{ json whorl://db/app }}}'
          LAST=x
          """.utf8))
      let printed = try await store.whorl(
        "run", "--env-file", "\(store.folder)/env", "--env", "ONE=db/app", "--", "/bin/sh", "-c",
        #"for name in PLAIN EMPTY QUOTED DOUBLE WHOLE SEED BARE URL JSON LAST ONE; do printenv $name; done"#)
      #expect(
        printed.text == """
          a b=c

          a "$b" \\ #
          it's
          p w'
          seed
          seed
          db://app:p w'@host/
          {"pw": "p w'"}
          x
          p w'

          """)
      #expect(printed.diagnostics.isEmpty)
    }
  }

  @Test(
    "whorl run refuses a file of variables that it does not understand, with the line, before anybody is asked",
    arguments: [
      ("A=whorl://a\r\nB=x\n", "line 1: it has a control character in it"),
      ("A=x\n# comment\r\nexport B=x\n", "line 3: not NAME=VALUE"), ("A=x\n;B=x\n", "line 2: not NAME=VALUE"),
      ("\n\n A=x", "line 3: not NAME=VALUE"), ("A = x", "line 1: not NAME=VALUE"), ("1A=x", "line 1: not NAME=VALUE"),
      ("A", "line 1: not NAME=VALUE"), ("\u{FEFF}A=x", "line 1: not NAME=VALUE"), ("Ä=x", "line 1: not NAME=VALUE"),
      ("A=x\nA=y", "line 2: A is there twice"), ("A=x #y", "line 1: a character that programs read"),
      ("A=$HOME", "line 1: a character that programs read"), ("A=x\\", "line 1: a character that programs read"),
      ("A=\"$HOME\"", "line 1: a character that programs replace"), ("A= x", "line 1: a blank at an end"),
      ("A=x\t", "line 1: a blank at an end"), ("A='x", "line 1: a quotation mark that does not go around"),
      ("A='x'y'", "line 1: a quotation mark that does not go around"),
      ("A=\"", "line 1: a quotation mark that does not"),
      ("A=x'y'", "line 1: a character that programs read"), ("A=whorl://", "line 1: a reference without a name"),
      ("A=x whorl://a", "line 1: a reference without braces"), ("A={{ whorl://a", "line 1: a reference without }}"),
      ("A=whorl://a{{ whorl://a }}", "line 1: a reference within a reference"),
    ])
  func badFile(_ text: String, _ what: String) async throws {
    try await TestStore.with { store in
      try await store.set("a", "x")
      let file = "\(store.folder)/env"
      try writeFile(file, Array(text.utf8))
      let result = try await store.whorl("run", "--env-file", file, "--env", "B=a", "--", "/bin/echo", "ran")
      #expect(result.status == 65)
      #expect(result.output.isEmpty)
      #expect(result.diagnostics.hasPrefix("whorl: run: \(file): \(what)"), "\(result.diagnostics)")
      #expect(result.diagnostics.split(separator: "\n").count == 1)
    }
  }

  @Test("whorl run refuses a variable that is named twice, and a file that is missing")
  func twice() async throws {
    try await TestStore.with { store in
      let file = "\(store.folder)/env"
      try writeFile(file, Array("A=x\n".utf8))
      for options in [["--env", "A=a"], ["--env-file", file]] {
        let result = try await Invocation(
          arguments: store.arguments(["run", "--env-file", file] + options + ["--", "/bin/echo", "ran"])
        ).run()
        #expect(result.status == 64)
        #expect(result.failure.contains("A is named twice"), "\(result.failure)")
      }
      #expect(try await store.whorl("run", "--env-file", "\(file)2", "--", "/bin/echo", "ran").status == 66)
      #expect(try await store.whorl("run", "--env-file", file, "--", "/bin/sh", "-c", "echo $A").text == "x\n")
    }
  }

  @Test("whorl run --mask hides each secret in both outputs, also written in pieces, and returns the command's status")
  func masks() async throws {
    try await TestStore.with { store in
      try await store.set("a", "hunter2", "--access", "none")
      try await store.set("b", "ter2-and-more\n", "--access", "none", "--exact")
      let result = try await store.whorl(
        "run", "--mask", "--env", "A=a", "--env", "B=b", "--", "/bin/sh", "-c",
        #"""
        echo "x${A}y hunt"; echo "e$A" >&2; printf hun; sleep 0.1; printf ter2; printf 'ter2-and-more|'
        printf "hun${B%?}|hunter2-and-more|hunt"; exit 7
        """#)
      #expect(result.text == "x*****y hunt\n**********|*****|*****|hunt")
      #expect(result.diagnostics == "e*****\n")
      #expect(result.status == 7)
    }
  }

  @Test("whorl run --mask hides a secret in a string of JSON also where a program writes it as plain text")
  func masksJSON() async throws {
    try await TestStore.with { store in
      try await store.set("a", "hun\"ter2\r\n", "--access", "none", "--exact")
      try writeFile("\(store.folder)/env", Array(#"CFG='{"pw": {{ json whorl://a }}}'"#.utf8))
      let result = try await store.whorl(
        "run", "--mask", "--env-file", "\(store.folder)/env", "--", "/bin/sh", "-c",
        #"echo "$CFG"; echo 'pw=hun"ter2'; echo 'x hun\"ter2\u000d\u000a y'"#)
      #expect(result.text == "{\"pw\": *****}\npw=*****\nx ***** y\n")
    }
  }

  @Test("a signal ends whorl run --mask when its command has ended and what that has started keeps the output open")
  func masksAfterEnd() async throws {
    try await TestStore.with { store in
      try await store.set("a", "hunter2", "--access", "none")
      let whorl = store.arguments(["run", "--mask", "--env", "A=a", "--", "/bin/sh", "-c"])
        .map { "'\($0)'" }.joined(separator: " ")
      let result = try await Invocation(
        program: "/bin/bash",
        arguments: [
          "-c",
          """
          '\(try Programs.path("whorl"))' \(whorl) 'setsid sleep 600 & echo $!; exit 5' >'\(store.folder)/out' &
          until [ -s '\(store.folder)/out' ]; do sleep 0.1; done
          # The command ends just after that line.
          while kill -TERM $! 2>/dev/null; do sleep 0.2; done
          wait $!; echo $?
          kill "$(cat '\(store.folder)/out')"
          """,
        ]
      ).run()
      #expect(result.text == "143\n", "\(result.diagnostics)")
    }
  }

  @Test("whorl run --mask keeps the order of two outputs that go to one place, and the end by a signal")
  func masksInOrder() async throws {
    try await TestStore.with { store in
      try await store.set("a", "hunter2", "--access", "none")
      let whorl = store.arguments(["run", "--mask", "--env", "A=a", "--", "/bin/sh", "-c"])
        .map { "'\($0)'" }.joined(separator: " ")
      let together = try await Invocation(
        program: "/bin/sh",
        arguments: [
          "-c", "'\(try Programs.path("whorl"))' \(whorl) 'for i in 1 2 3; do echo o$i$A; echo e$i$A >&2; done' 2>&1",
        ]
      ).run()
      #expect(together.text == (1...3).map { "o\($0)*****\ne\($0)*****\n" }.joined())
      let killed = try await store.whorl(
        "run", "--mask", "--env", "A=a", "--", "/bin/sh", "-c", "echo $A; kill -TERM $$")
      #expect(killed.text == "*****\n")
      #expect(killed.status == 128 + SIGTERM)
      #expect(try await store.whorl("run", "--mask", "--env", "A=a", "--", "no-such-command").status == 127)
    }
  }

  @Test("whorl run --mask ends a command whose output nobody reads, and has the shell run a script without #!")
  func masksInPipes() async throws {
    try await TestStore.with { store in
      try await store.set("a", "hunter2", "--access", "none")
      let whorl = store.arguments(["run", "--mask", "--env", "A=a", "--"]).map { "'\($0)'" }.joined(separator: " ")
      let head = try await Invocation(
        program: "/bin/sh", arguments: ["-c", "'\(try Programs.path("whorl"))' \(whorl) yes | head -n 1"]
      ).run()
      #expect(head.text == "y\n")
      try writeFile("\(store.folder)/script", Array("echo script $A $1\n".utf8))
      chmod("\(store.folder)/script", 0o700)
      #expect(
        try await store.whorl("run", "--mask", "--env", "A=a", "--", "\(store.folder)/script", "word").text
          == "script ***** word\n")
    }
  }

  @Test("a command of whorl run --mask has the original signals and limits, and not the passcode's descriptor")
  func masksCleanly() async throws {
    try await TestStore.with { store in
      try await store.set("a", "x!x!x")
      let probe = "grep -E '^Sig(Blk)' /proc/self/status; ulimit -c; umask; ls /proc/self/fd | tr '\n' ' '; cat <&3"
      let direct = try await Invocation(program: "/bin/sh", arguments: ["-c", probe]).run()
      let through = try await store.unlocked("run", "--mask", "--env", "A=a", "--", "/bin/sh", "-c", probe)
      #expect(through.text == direct.text)
      #expect(through.status == direct.status)
    }
  }
}
