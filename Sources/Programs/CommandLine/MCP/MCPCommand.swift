import ArgumentParser
import CommandBase
import Glibc
import Processes
import Settings

struct MCPCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Let an agent run commands with secrets, after a touch for each.",
    discussion: """
      A server of the Model Context Protocol on standard input and output. A program with a language model, such as a coding \
      agent, starts it; it is of no use at a terminal. It has two tools: one lists the names and rules of passwords, the other \
      runs a command that has secrets in its environment.

      Each command is shown to you on the desktop before it runs: the program that asks, the secrets, the whole command, and \
      the reason that the program gives. A touch, or your passcode, runs that command once. Command and reason are the \
      program's claims. No secret is ever an answer: in what the command writes, ***** stands for each secret. A command can \
      still give away its secret in another form, so read what you allow.

      PATTERN, with * and ? over names, limits what the agent sees and may ask for; several may be given.

      Examples:
        claude mcp add whorl -- whorl mcp
        codex mcp add whorl -- whorl mcp 'forge/*'
        whorl log
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: ArgumentHelp("The names that the agent sees; all where it is left away.", valueName: "pattern"))
  var patterns: [String] = []

  func validate() throws {
    if options.json { throw ValidationError("--json has no meaning here: the output is the protocol's.") }
    if options.passcodeFd != nil {
      throw ValidationError("--passcode-fd has no meaning here: a person allows each command.")
    }
    if patterns.contains("") { throw ValidationError("A pattern has at least one character.") }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let tools = AgentTools(
      asker: AskingAgent(getppid()), options: options, patterns: patterns, hardening: hardening)
    let server = MCPServer(tools)
    Interruption.onSignal { server.cancelAll() }
    await server.serve()
  }
}
