import ArgumentParser
import CommandBase
import Glibc
import Primitives
import Processes
internal import Prompts
import SecretModel
import SessionPrompts
import Settings
import Whorl

/// The program that has started this one to ask for commands.
struct AskingAgent: Sendable {
  let asker: PromptAsker
  /// For the log of the store.
  let words: String
  /// For the turns of prompts.
  let program: String

  init(_ process: Int32) {
    let client = ClientProgram(process)
    (asker, program) = (client.asker(), client.program)
    words = asker.details
  }
}

/// The tools of `whorl mcp`. Each call has a connection to the vault of its own, which ends before a command runs.
final class AgentTools: Sendable {
  enum Tool: String, CaseIterable {
    case list = "list_secrets"
    case run = "run_with_secrets"
  }

  /// The most secrets that one answer lists.
  private static let listLimit = 500

  private let agent: AskingAgent
  private let options: GlobalOptions
  /// Of the names that the agent may use; all if empty.
  private let patterns: [String]
  private let hardening: Hardening
  private let turns = PromptTurns(onBus: BaseDirectories.sessionBus)

  init(asker agent: AskingAgent, options: GlobalOptions, patterns: [String], hardening: Hardening) {
    (self.agent, self.options, self.patterns, self.hardening) = (agent, options, patterns, hardening)
  }

  /// Calls a tool. Never throws: the model reads why it was refused.
  func call(_ tool: Tool, _ arguments: JSONValue, _ request: OpenRequest) async -> ToolResult {
    await Principal.$program.withValue(agent.words) {
      do throws(Failure) {
        switch tool {
        case .list: return try await list(arguments)
        case .run: return try await run(AgentCommand(arguments), request)
        }
      } catch {
        return .refused(Visible.text(error.advice.map { "\(error.what): \($0)" } ?? error.what))
      }
    }
  }

  // MARK: Names and rules

  private func list(_ arguments: JSONValue) async throws(Failure) -> ToolResult {
    let filter = arguments["filter"]?.asText?.lowercased() ?? ""
    let items = try await inSession { session throws(Failure) in try await self.passwords(nil, session) }
    let names = items.filter { filter.isEmpty || $0.title?.lowercased().contains(filter) == true }
    let listed = names.prefix(Self.listLimit).map { item -> JSONValue in
      var fields: [String: JSONValue] = [
        "name": .text(item.title ?? ""), "needs": .text(item.access.spoken), "open": .text(item.accessibility.spoken),
      ]
      // Only the command line's own passwords are found by their names alone.
      if item.itemClass != .genericPassword || item.group != AccessGroup.commandLine {
        fields["id"] = .text(item.id.spoken)
      }
      return .object(fields)
    }
    var result: [String: JSONValue] = ["secrets": .list(listed)]
    if names.count > listed.count { result["more"] = .integer(Int64(names.count - listed.count)) }
    return ToolResult(texts: [try JSON.text(JSONValue.object(result))], structured: result)
  }

  /// The passwords that the agent may use.
  private func passwords(_ ids: [ItemID]?, _ session: Session) async throws(Failure) -> [Item] {
    var found: [Item] = []
    for pattern in patterns.isEmpty ? [nil] : patterns.map(Optional.some) {
      var search = ItemSearch.everything
      (search.ids, search.pattern) = (ids, pattern)
      let wanted = search
      for item in try await session.request({ try await $0.allItems(wanted) })
      where item.state == .living && !found.contains(where: { $0.id == item.id }) {
        if item.itemClass == .genericPassword || item.itemClass == .internetPassword { found.append(item) }
      }
    }
    return found
  }

  // MARK: Commands

  private func run(_ command: AgentCommand, _ request: OpenRequest) async throws(Failure) -> ToolResult {
    let secrets = try await inSession { session throws(Failure) in
      try await self.released(for: command, session, request)
    }
    guard !request.isCancelled else { throw .cancelled }
    return try await command.run(with: secrets, request, hardening)
  }

  /// The secrets for a command, in the order of its variables, once the person has allowed it.
  private func released(
    for command: AgentCommand, _ session: Session, _ request: OpenRequest
  ) async throws(Failure) -> [SharedSecret] {
    let ids = try await ItemChoice(options: try Self.everyItem(), purpose: .reading, session: session)
      .readable(named: command.names)
    let usable = try await passwords(ids, session)
    var items: [Item] = []
    for (id, name) in zip(ids, command.names) {
      // In the same words as for a name that there is not: the agent shall not learn others.
      guard let item = usable.first(where: { $0.id == id }) else { throw .noItem(name) }
      items.append(item)
    }
    let bus = BaseDirectories.sessionBus
    guard await AgentPrompt.canBeShown(onBus: bus) else {
      throw .interactionNotAllowed(
        "no desktop shows notifications here, so nobody can be asked", advice: "run the agent in a session of a desktop"
      )
    }
    var inquiry = Inquiry(
      command.reason(for: items.map { $0.title ?? "" }),
      prompt: AgentPrompt(
        in: .init(
          bus: bus, environment: UserEnvironment.entries, log: { StandardError.line("whorl: mcp: \(Visible.text($0))") }
        ),
        asker: agent.asker))
    inquiry.options.timeout = session.contextOptions.timeout
    inquiry.options.offersFallbackAtOnce = true
    inquiry.triesSilently = false
    inquiry.firstUnlock = .together
    inquiry.repeatsWhereVaultEnds = true
    inquiry.follow = { context in
      guard let context else { return request.onCancel(nil) }
      request.onCancel { context.invalidate() }
    }
    let (asking, store) = (inquiry, try await session.openStore())
    // A command is always shown, also if its secrets would need nobody.
    let needsNobody = items.allSatisfy { $0.access.constraint == AccessControl.Constraint.none }
    let released = try await turns.run(for: agent.program) { () throws(Failure) in
      try await asking.ask(in: store) { vault, asking throws(Failure) in
        do {
          if needsNobody { _ = try await vault.evaluate(.access(AccessControl(.presence)), asking) }
          return try await vault.secrets(.ids(ids), asking)
        } catch {
          throw session.explained(error)
        }
      }
    }
    guard let released else { throw .cancelled }
    return released.map { SharedSecret($0.secret.copy()) }
  }

  private static func everyItem() throws(Failure) -> ItemOptions {
    do { return try ItemOptions.parse([]) } catch { throw .defect(error) }
  }

  /// Runs a body in a session whose connection ends with it.
  private func inSession<Answer: Sendable>(
    _ body: (Session) async throws(Failure) -> Answer
  ) async throws(Failure) -> Answer {
    let session = try Session(options, CommandConnection(for: []))
    let result: Result<Answer, Failure>
    do throws(Failure) { result = .success(try await body(session)) } catch { result = .failure(error) }
    await session.close()
    return try result.get()
  }
}

// What the agent's model is told.
extension AgentTools {
  static let instructions = """
    Whorl keeps the secrets of a person. You never see a secret: you name secrets by their names, and Whorl runs a \
    command that has them in its environment. The person sees each command and your reason, and allows it with a finger, \
    so ask for one command at a time, keep it short, and say plainly why it is needed. Do not have a command print, \
    encode or store a secret.
    """

  static var descriptions: JSONValue { .list(Tool.allCases.map(\.description)) }
}

extension AgentTools.Tool {
  fileprivate var description: JSONValue {
    switch self {
    case .list:
      [
        "name": .text(rawValue), "title": "List secrets",
        "description":
          "Lists the names of the person's passwords and tokens, and what releases each. Gives out no secret, and asks nobody.",
        "inputSchema": [
          "type": "object",
          "properties": [
            "filter": ["type": "string", "description": "Only names with this text in them."]
          ],
          "additionalProperties": false,
        ],
        "annotations": ["readOnlyHint": true, "openWorldHint": false],
      ]
    case .run:
      [
        "name": .text(rawValue), "title": "Run a command with secrets",
        "description": .text(
          "Runs a command without a shell, in the folder of this server, with secrets in its environment, after the person "
            + "has seen the command and allowed it with a finger or a passcode. Answers with what it writes, in which "
            + "***** stands for each secret, and with its status. Standard input is empty. What the command has started in "
            + "the background ends with it."),
        "inputSchema": [
          "type": "object",
          "properties": [
            "command": [
              "type": "array", "items": ["type": "string"], "minItems": 1,
              "maxItems": .integer(Int64(AgentCommand.mostWords)),
              "description": .text(
                "The program and its arguments. For variables and pipes: [\"sh\", \"-c\", \"...\"]. The person reads all of "
                  + "it, so a long one is refused: put it into a script."),
            ],
            "secrets": [
              "type": "object", "additionalProperties": ["type": "string"], "minProperties": 1,
              "maxProperties": .integer(Int64(PromptLabel.most)),
              "description":
                "Environment variables, each with the name of the secret that fills it: {\"TOKEN\": \"forge/token\"}.",
            ],
            "reason": ["type": "string", "description": "Why, in a few plain words that the person reads."],
            "seconds": [
              "type": "integer", "minimum": 1, "maximum": .integer(Int64(AgentCommand.longestSeconds)),
              "description": .text("After this time the command is ended. Default: \(AgentCommand.usualSeconds)."),
            ],
          ],
          "required": ["command", "secrets", "reason"], "additionalProperties": false,
        ],
        "annotations": ["readOnlyHint": false, "destructiveHint": true, "openWorldHint": true],
      ]
    }
  }
}
