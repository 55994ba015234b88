import ArgumentParser
import CommandBase
import Glibc
internal import Primitives
internal import Prompts
import SecretModel
import Settings

struct Log: Command {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show what programs asked of the store.",
    discussion: """
      The system service keeps a log for each user: which program asked for what, what the person was asked for, and how \
      it ended; "not answered" where nobody did in time. A program's name is what it calls itself, not a proof of what it \
      is. whorl-agent also says for which program it asks. Reads, changes and refusals are in it; searches, which give out no secret, are not. There is room for some thousands of entries, then the oldest go; \
      the system's journal has them too, for administrators ('journalctl -u whorld WHORL_UID=UID'). A private store has \
      no log.

      On a terminal a table; elsewhere a line for each entry, separated by tabs: time, program and process, request, \
      items, outcome, details.

      Examples:
        whorl log
        whorl log --since 2h
        whorl log --since '2026-11-22 09:00' --json
        whorl log -n 5 --follow
      """)

  @OptionGroup var options: GlobalOptions

  @Option(
    help: ArgumentHelp(
      "Only entries from this time on.", discussion: "30m, 2h, 3d (ago), or 2026-11-22, or '2026-11-22 09:00'.",
      valueName: "time"),
    transform: LogTime.seconds)
  var since: Int64?

  @Option(
    name: .short, help: ArgumentHelp("At most so many, the newest.", valueName: "count"),
    transform: Log.number)
  var number: Int?

  @Flag(help: "Go on with entries that come from now on, until Ctrl-C.")
  var follow = false

  /// The interval of checks for new entries.
  private static let pause = Duration.seconds(1)

  static func number(_ word: String) throws -> Int {
    guard let number = Int(word), number > 0 else { throw ValidationError("-n takes a number from 1 on") }
    return number
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    var search = AuditSearch()
    search.since = since ?? 0
    search.last = min(number ?? AuditSearch.limit, AuditSearch.limit)
    let first = try await session.request { [search] in try await $0.log(search) }
    try print(first, try await names(of: first, session), isFirst: true)
    guard follow else { return }
    search.last = AuditSearch.limit
    search.after = first.last?.number ?? 0
    // Ctrl-C is the normal end, not a failure.
    Interruption.onSignal { _exit(ExitStatus.done.rawValue) }
    while (try? await Pause.wait(for: Self.pause)) != nil {
      let new = try await session.request { [search] in try await $0.log(search) }
      guard let last = new.last else { continue }
      try print(new, try await names(of: new, session), isFirst: false)
      search.after = last.number
    }
  }

  /// The names of the entries' items that still exist.
  private func names(of entries: [AuditEntry], _ session: Session) async throws(Failure) -> [ItemID: String] {
    let ids = Set(entries.flatMap(\.items))
    guard !ids.isEmpty else { return [:] }
    var search = ItemSearch.everything
    search.ids = Array(ids)
    let items = try await session.request { [search] in try await $0.allItems(search) }
    return items.reduce(into: [:]) { names, item in names[item.id] = item.title }
  }

  private func print(_ entries: [AuditEntry], _ names: [ItemID: String], isFirst: Bool) throws(Failure) {
    if options.json {
      guard follow else { return try JSON.print(["entries": entries.map { EntryReport($0, names) }]) }
      for entry in entries { try JSON.print(EntryReport(entry, names)) }
      return
    }
    var table = Table()
    for entry in entries {
      let process = entry.process.map { " [\($0)]" } ?? ""
      table.add([
        Spoken.time(entry.time),
        (entry.behalf.map { "\($0), says " } ?? "") + (entry.program ?? "a program") + process, entry.request.rawValue,
        entry.items.map { names[$0] ?? $0.spoken }.joined(separator: ", "), entry.outcome.spoken,
        entry.details.joined(separator: "; "),
      ])
    }
    if isFirst {
      try table.print(head: ["TIME", "PROGRAM", "REQUEST", "ITEMS", "OUTCOME", ""])
    } else {
      try table.print(head: ["", "", "", "", "", ""], aligned: false)
    }
  }
}

/// An entry in JSON. The time is in seconds since 1970.
private struct EntryReport: Encodable {
  struct ItemReport: Encodable {
    var id: String
    /// Nil for an item that no longer exists.
    var name: String?
  }

  var number: Int
  var time: Int64
  var program: String?
  var process: Int?
  /// The program for which it claims to ask.
  var behalf: String?
  var request: String
  var items: [ItemReport]
  var prompts: [String]
  var wrongPasscodes: Int
  var unmatchedTouches: Int
  var setChanged: Bool
  /// `done`, `Rejected` by another program of the user, or the name of an error.
  var outcome: String
  /// The number of earlier requests without an entry.
  var omitted: Int

  init(_ entry: AuditEntry, _ names: [ItemID: String]) {
    number = entry.number
    time = entry.time
    program = entry.program
    process = entry.process
    behalf = entry.behalf
    request = entry.request.rawValue
    items = entry.items.map { ItemReport(id: $0.spoken, name: names[$0]) }
    prompts = entry.prompts.map(\.rawValue)
    wrongPasscodes = entry.wrongPasscodes
    unmatchedTouches = entry.unmatchedTouches
    setChanged = entry.isSetChanged
    outcome = entry.outcome.rawValue
    omitted = entry.omitted
  }
}

/// The times that `whorl log --since` takes.
enum LogTime {
  /// Seconds since 1970 of a time such as `30m`, `2h` and `3d` (ago), `2026-11-22` or `2026-11-22 09:00` (local time).
  static func seconds(_ word: String) throws -> Int64 {
    guard let seconds = ago(word) ?? day(word) else {
      throw ValidationError("--since takes 30m, 2h, 3d, 2026-11-22 or '2026-11-22 09:00'")
    }
    return seconds
  }

  private static func ago(_ word: String) -> Int64? {
    TimeSpan.seconds(word).map { Int64(time(nil)) - $0 }
  }

  private static func day(_ word: String) -> Int64? {
    let parts = word.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
    guard let date = numbers(parts[0], separator: "-", widths: [4, 2, 2]) else { return nil }
    var time = [0, 0]
    if parts.count == 2 {
      guard let given = numbers(parts[1], separator: ":", widths: [2, 2]) else { return nil }
      time = given
    }
    guard (1970...9999).contains(date[0]), (1...12).contains(date[1]), (1...31).contains(date[2]),
      (0...23).contains(time[0]), (0...59).contains(time[1])
    else { return nil }
    var moment = tm()
    (moment.tm_year, moment.tm_mon, moment.tm_mday) = (Int32(date[0] - 1900), Int32(date[1] - 1), Int32(date[2]))
    (moment.tm_hour, moment.tm_min) = (Int32(time[0]), Int32(time[1]))
    // Let the system determine whether daylight saving time applies.
    moment.tm_isdst = -1
    let seconds = mktime(&moment)
    return seconds == -1 ? nil : Int64(seconds)
  }

  private static func numbers(_ text: Substring, separator: Character, widths: [Int]) -> [Int]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == widths, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    return parts.compactMap { Int($0) }
  }
}
