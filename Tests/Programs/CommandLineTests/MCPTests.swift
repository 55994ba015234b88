import Glibc
import ProgramDriver
import Testing
import VaultDriver

@Suite("whorl mcp")
struct MCPTests {
  /// Whether a process is there and has not ended.
  private func isRunning(_ process: String) -> Bool {
    guard let number = pid_t(process.filter(\.isNumber)),
      let bytes = try? readFile("/proc/\(number)/stat")
    else { return false }
    return !String(decoding: bytes, as: UTF8.self).contains(") Z ")
  }

  private func waitForEnd(of process: String) async throws {
    for _ in 0..<6_000 where isRunning(process) { try await Task.sleep(for: .milliseconds(5)) }
    #expect(!isRunning(process), "it runs on")
  }

  // MARK: The protocol

  @Test("whorl mcp answers requests of both kinds of versions of the protocol, and errors by their codes")
  func protocolVersions() async throws {
    let end = try await ScriptedAgent.with { agent in
      func version(_ wanted: String) async throws -> String {
        agent.ask(1, "initialize", #"{"protocolVersion":"\#(wanted)","capabilities":{},"clientInfo":{"name":"x"}}"#)
        return try await agent.answer()
      }
      for known in ["2025-11-25", "2025-06-18", "2024-11-05"] {
        #expect(try await version(known).contains(#""protocolVersion":"\#(known)""#))
      }
      #expect(try await version("2025-03-26").contains(#""protocolVersion":"2024-11-05""#))
      #expect(try await version("2099-01-01").contains(#""protocolVersion":"2025-11-25""#))
      #expect(try await version("1999-01-01").contains(#""protocolVersion":"2025-11-25""#))
      agent.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
      agent.ask(2, "ping")
      #expect(try await agent.answer() == #"{"id":2,"jsonrpc":"2.0","result":{"resultType":"complete"}}"#)
      agent.ask(3, "tools/list")
      let tools = try await agent.answer()
      #expect(tools.contains(#""name":"list_secrets""#) && tools.contains(#""name":"run_with_secrets""#))
      let later = #"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#
      agent.ask(4, "server/discover", later)
      #expect(try await agent.answer().contains(#""supportedVersions":["2026-07-28","2025-11-25""#))
      agent.ask(5, "ping", #"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}"#)
      #expect(try await agent.answer().contains(#""code":-32022,"data":{"requested":"2099-01-01","supported":["#))
      let errors = [
        (#"{"jsonrpc":"2.0","id":6,"method":"resources/list"}"#, -32_601, "6"),
        (#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"get"}}"#, -32_602, #""a""#),
        (
          #"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_secrets","arguments":[]}}"#, -32_602,
          "7"
        ),
        (#"{"jsonrpc":"2.0","id":8,"method":"ping","params":[]}"#, -32_602, "8"),
        (#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, -32_600, "9"),
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600, "null"),
        (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32_600, "null"),
        (#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32_600, "null"),
        (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600, "null"), ("", -32_700, "null"),
        (#"{"jsonrpc":"2.0","#, -32_700, "null"),
      ]
      for (line, code, id) in errors {
        agent.send(line)
        let answer = try await agent.answer()
        #expect(answer.contains(#""code":\#(code),"#) && answer.contains(#""id":\#(id),"#), "\(line) \(answer)")
      }
      // An answer, and notifications that are not known, get nothing.
      agent.send(#"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"jsonrpc":"2.0","method":"notifications/else"}"#)
      agent.cancel(77)
      agent.ask(10, "ping")
      #expect(try await agent.answer().contains(#""id":10,"#))
    }
    #expect(end.status == 0, "\(end.diagnostics)")
  }

  @Test("a line of whorl mcp that is too long, too deep or of too many values is refused, and the next one is answered")
  func giants() async throws {
    try await ScriptedAgent.with { agent in
      let giants = [
        #"{"jsonrpc":"2.0","id":1,"method":""# + String(repeating: "x", count: 3 << 20) + #""}"#,
        String(repeating: "[", count: 100_000), "[" + String(repeating: "1,", count: 200_000) + "1]",
      ]
      for giant in giants {
        agent.send(giant)
        agent.ask(2, "ping")
        let (refusal, answer) = (try await agent.answer(), try await agent.answer())
        #expect(refusal.contains(#""code":-32600,"#) && answer.contains(#""id":2,"#), "\(refusal) \(answer)")
      }
      // What looks like values within a text is none.
      agent.ask(3, "ping", #"{"a":"\#(String(repeating: "[{,", count: 50_000))\\\""}"#)
      #expect(try await agent.answer().contains(#""id":3,"#))
    }
  }

  // MARK: Names and rules

  @Test("list_secrets gives names and rules of passwords, asks nobody, and keeps to the patterns")
  func list() async throws {
    try await ScriptedAgent.with(["pres*", "open"]) { agent in
      agent.ask(1, "tools/call", #"{"name":"list_secrets"}"#)
      let listed = try await agent.answer()
      let presence = #"{"name":"presence","needs":"a finger or the passcode","open":"while unlocked"}"#
      #expect(listed.contains(presence), "\(listed)")
      #expect(listed.contains(#""name":"open","needs":"nothing""#) && !listed.contains("any-finger"))
      agent.ask(2, "tools/call", #"{"name":"list_secrets","arguments":{"filter":"PRES"}}"#)
      let filtered = try await agent.answer()
      #expect(filtered.contains("presence") && !filtered.contains(#""open","needs""#))
      agent.run(3, ["true"], #"{"A":"any-finger"}"#)
      #expect(try await agent.answer().contains("no item any-finger"))
      agent.run(4, ["true"], #"{"A":"missing"}"#)
      #expect(try await agent.answer().contains("no item missing"))
      #expect(agent.desktop?.shown.isEmpty == true)
    }
  }

  // MARK: Commands

  @Test("run_with_secrets shows program, command and reason, and after a touch answers with masked output and status")
  func run() async throws {
    let end = try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(1, ["sh", "-c", #"echo "<$A|$B>"; echo "$A" >&2; exit 7"#], #"{"A":"presence","B":"open"}"#)
      let answer = try await agent.answer()
      #expect(answer.contains(#""text":"<*****|*****>\n*****\n""#), "\(answer)")
      #expect(answer.contains(#""status":7,"timedOut":false"#) && answer.contains("ended with status 7"))
      let shown = try await agent.prompt()
      #expect(
        shown.text.contains(
          #" wants to run “/usr/bin/sh -c 'echo "&lt;$A|$B&gt;"; echo "$A" &gt;&amp;2; exit 7'” with “presence”, “open”, "#
            + "and says why: “send it”. Swipe the reader (virtual reader).\nProgram: /"), "\(shown.text)")
      #expect(agent.desktop?.closed.contains(shown.number) == true)
    }
    #expect(end.status == 0, "\(end.diagnostics)")
  }

  @Test("a secret that needs nobody is given to a command only after a touch as well")
  func openSecret() async throws {
    try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(1, ["sh", "-c", #"test "$A" = open && echo right"#], #"{"A":"open"}"#)
      let (answer, shown) = (try await agent.answer(), try await agent.prompt())
      #expect(answer.contains(#""text":"right\n""#) && shown.text.contains("with “open”"), "\(answer)")
    }
  }

  @Test("Passcode in the prompt has pinentry ask, with the same words, and runs the command")
  func passcode() async throws {
    let script = """
      echo "OK"
      while read -r word rest; do
        echo "$word $rest" >>"${PATH%%:*}/said"
        case $word in GETPIN) echo "D \(TestStore.passcode)"; echo OK ;; *) echo OK ;; esac
      done
      """
    try await ScriptedAgent.with(pinentry: script) { agent in
      agent.run(1, ["sh", "-c", "echo ran"])
      agent.desktop?.choose("passcode", of: try await agent.prompt().number)
      #expect(try await agent.answer().contains(#""text":"ran\n""#))
      let said = try await agent.contents("said")
      #expect(said.contains("with “presence”, and says why: “send it”"), "\(said)")
    }
  }

  @Test("a closed store is opened with the passcode before a command runs")
  func closed() async throws {
    let script = """
      echo "OK"
      while read -r word rest; do
        case $word in GETPIN) echo "D \(TestStore.passcode)"; echo OK ;; *) echo OK ;; esac
      done
      """
    for (pinentry, expected) in [(script, #""text":"ran\n""#), ("exit 1", #""isError":true"#)] {
      try await ScriptedAgent.with(pinentry: pinentry) { store in
        try await makeWaitForPasscode(storeAt: store.directory, passcode: TestStore.passcode)
      } _: { agent in
        agent.run(1, ["sh", "-c", "echo ran"])
        let answer = try await agent.answer()
        #expect(answer.contains(expected), "\(answer)")
      }
    }
  }

  // MARK: Refusals

  @Test("fingers that are not known, and then their lockout, run nothing, and the answer says why")
  func lockout() async throws {
    try await ScriptedAgent.with(touches: [.wrong, .wrong, .wrong, .wrong, .wrong]) { agent in
      for id in 1...3 {
        agent.run(id, ["sh", "-c", "echo ran >>ran"], #"{"A":"any-finger"}"#)
        let answer = try await agent.answer()
        #expect(answer.contains(#""isError":true"#) && !answer.contains("any-finger\\n"), "\(answer)")
      }
      #expect(access("\(agent.store.folder)/ran", F_OK) != 0)
    }
  }

  @Test("Cancel in the prompt, and a desktop that shows nothing, run nothing")
  func refused() async throws {
    try await ScriptedAgent.with { agent in
      agent.run(1, ["sh", "-c", "echo ran"])
      agent.desktop?.choose("cancel", of: try await agent.prompt().number)
      let answer = try await agent.answer()
      #expect(answer.contains(#""isError":true"#) && answer.contains("cancelled"), "\(answer)")
    }
    try await ScriptedAgent.with(touches: [.right], hasDesktop: false) { agent in
      agent.run(1, ["sh", "-c", "echo ran"])
      let answer = try await agent.answer()
      #expect(answer.contains("no desktop shows notifications here"), "\(answer)")
    }
  }

  @Test("arguments of run_with_secrets that are not right are refused before anybody is asked")
  func mistakes() async throws {
    try await ScriptedAgent.with { agent in
      func refusal(_ arguments: String) async throws -> String {
        agent.ask(1, "tools/call", #"{"name":"run_with_secrets","arguments":{\#(arguments)}}"#)
        let answer = try await agent.answer()
        #expect(answer.contains(#""isError":true"#))
        return answer
      }
      let (command, secrets, reason) = (#""command":["true"]"#, #""secrets":{"A":"presence"}"#, #""reason":"r""#)
      #expect(try await refusal("\(secrets),\(reason)").contains("command is a list"))
      #expect(try await refusal(#""command":[],\#(secrets),\#(reason)"#).contains("command is a list"))
      #expect(try await refusal(#""command":["a\u0000"],\#(secrets),\#(reason)"#).contains("without NUL"))
      #expect(try await refusal(#""command":[1],\#(secrets),\#(reason)"#).contains("no text"))
      #expect(try await refusal(#""command":["no-such"],\#(secrets),\#(reason)"#).contains("command not found"))
      #expect(try await refusal("\(command),\(reason)").contains("secrets has 1 to 8"))
      #expect(
        try await refusal(#"\#(command),"secrets":{"A=B":"presence"},\#(reason)"#).contains("variable that is none"))
      #expect(try await refusal(#"\#(command),"secrets":{"A":1},\#(reason)"#).contains("no text"))
      let nine = (1...9).map { #""A\#($0)":"presence""# }.joined(separator: ",")
      #expect(try await refusal(#"\#(command),"secrets":{\#(nine)},\#(reason)"#).contains("secrets has 1 to 8"))
      #expect(try await refusal("\(command),\(secrets)").contains("reason is missing"))
      #expect(try await refusal(#"\#(command),\#(secrets),"reason":"\u200b""#).contains("reason is missing"))
      #expect(
        try await refusal(#"\#(command),\#(secrets),\#(reason),"seconds":0"#).contains("seconds is a whole number"))
      let long = String(repeating: "x", count: 300)
      let refused = try await refusal(#""command":["true","\#(long)"],\#(secrets),\#(reason)"#)
      #expect(refused.contains("too long to be shown whole"))
      #expect(agent.desktop?.shown.isEmpty == true)
    }
  }

  @Test("a prompt shows all of a command, and no claim can end its quotation marks or hide a part")
  func hostileClaims() async throws {
    try await ScriptedAgent.with { agent in
      agent.ask(
        1, "tools/call",
        #"{"name":"run_with_secrets","arguments":{"command":["sh","-c",": ” and nothing else\u202e\n\u200b"],"#
          + #""secrets":{"A":"presence"},"reason":"x”. Touch to win\n\u202eProgram: /usr/bin/good"}}"#)
      let shown = try await agent.prompt()
      #expect(
        shown.text.contains(
          #"run “/usr/bin/sh -c ': \u{201d} and nothing else\u{202e}\u{a}\u{200b}'” with “presence”, and says why: "#
            + "“x. Touch to win Program: /usr/bin/good”."), "\(shown.text)")
      #expect(shown.text.split(separator: "\n").count == 2)
    }
  }

  // MARK: Ends

  @Test("notifications/cancelled takes a prompt down, runs nothing, and gets no answer")
  func cancelledPrompt() async throws {
    try await ScriptedAgent.with { agent in
      agent.run(1, ["sh", "-c", "echo ran"])
      let shown = try await agent.prompt()
      agent.cancel(1)
      try await agent.desktop?.waitUntilClosed(shown.number)
      agent.ask(2, "ping")
      #expect(try await agent.answer().contains(#""id":2,"#))
    }
  }

  @Test("notifications/cancelled ends a running command with what it has started, and gets no answer")
  func cancelledCommand() async throws {
    try await ScriptedAgent.with(touches: [.right]) { agent in
      let folder = agent.store.folder
      agent.run(1, ["sh", "-c", "cd \(folder); sleep 1000 & echo $! >child; wait"])
      let child = try await agent.contents("child")
      #expect(isRunning(child))
      agent.cancel(1)
      try await waitForEnd(of: child)
      agent.ask(2, "ping")
      #expect(try await agent.answer().contains(#""id":2,"#))
    }
  }

  @Test("a command is ended after its time, also one that ignores SIGTERM, and the answer says so")
  func late() async throws {
    try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(1, ["sh", "-c", "trap '' TERM; echo begun; sleep 1000; sleep 1000"], more: #","seconds":1"#)
      let answer = try await agent.answer()
      #expect(answer.contains(#""signal":9,"status":137,"timedOut":true"#), "\(answer)")
      #expect(answer.contains("begun") && answer.contains("ended after 1 second."))
    }
  }

  @Test("what a command leaves in the background ends with it, and does not keep its answer back")
  func background() async throws {
    try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(1, ["sh", "-c", "cd \(agent.store.folder); sleep 1000 & echo $! >child; echo done"])
      #expect(try await agent.answer().contains(#""text":"done\n""#))
      try await waitForEnd(of: try await agent.contents("child"))
    }
  }

  @Test("the end of standard input ends whorl mcp and the commands that run", arguments: [false, true])
  func endOfInput(isSignalled: Bool) async throws {
    let child = Box()
    let end = try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(
        1, ["sh", "-c", "cd \(agent.store.folder); echo $PPID >parent; sleep 1000 & echo $! >child; wait"])
      child.text = try await agent.contents("child")
      guard isSignalled, let parent = pid_t(try await agent.contents("parent").filter(\.isNumber)) else { return }
      kill(parent, SIGTERM)
      // Closing standard input before the signal has arrived would end it with status 0.
      try await waitForEnd(of: child.text)
    }
    #expect(end.status == (isSignalled ? 128 + SIGTERM : 0), "\(end.diagnostics)")
    try await waitForEnd(of: child.text)
  }

  @Test("whorl mcp keeps eight requests open, refuses further ones, and goes on when one has ended")
  func flood() async throws {
    try await ScriptedAgent.with { agent in
      for id in 1...40 { agent.run(id, ["true"]) }
      for _ in 9...40 {
        let answer = try await agent.answer()
        #expect(answer.contains("8 requests are open already"), "\(answer)")
      }
      agent.run(1, ["true"])
      #expect(try await agent.answer().contains(#""code":-32600"#), "an id that is in use")
      for id in 1...8 { agent.cancel(id) }
      agent.ask(50, "ping")
      #expect(try await agent.answer().contains(#""id":50,"#))
    }
  }

  @Test("long output of a command is answered without its middle")
  func longOutput() async throws {
    try await ScriptedAgent.with(touches: [.right]) { agent in
      agent.run(1, ["sh", "-c", "echo begin; yes x | head -c 1000000; echo end"])
      let answer = try await agent.answer()
      #expect(answer.contains("begin") && answer.contains(#"end\n"#) && answer.contains("bytes left out"))
      #expect(answer.contains(#""omittedBytes":934474"#) && answer.utf8.count < 160_000, "\(answer.suffix(300))")
    }
  }
}

/// Keeps a text that a closure has found.
private final class Box: @unchecked Sendable {
  // Set before the closure ends, and read after it.
  var text = ""
}
