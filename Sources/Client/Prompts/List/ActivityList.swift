internal import Primitives
package import SecretModel

/// An entry of the store's log as a list shows it, with the text by which a filter finds it.
package struct ActivityEntry: Sendable, Hashable {
  /// Which program asked, and what for: "Firefox: read".
  package let title: String
  /// When, for which items, and how it ended.
  package let summary: String
  /// Whether the request was granted.
  package let isDone: Bool
  /// Title and summary in lower case.
  fileprivate let searched: String

  fileprivate init(_ entry: AuditEntry, _ names: [ItemID: String]) {
    let program = entry.program ?? Text.of("a program")
    let asker =
      entry.behalf.map { Text.of("{name} through {program}", ["name": $0, "program": program]) } ?? program
    title = Visible.text("\(asker): \(entry.request.spoken)")
    let items = entry.items.map { names[$0] ?? Text.of("something that is gone") }.joined(separator: ", ")
    let parts = [Spoken.time(entry.time), items, entry.outcome.spoken] + entry.details
    summary = Visible.text(parts.filter { !$0.isEmpty }.joined(separator: " · "))
    isDone = entry.outcome == .done
    searched = "\(title) \(summary)".lowercased()
  }
}

/// The log of a store, and the filter over it.
package struct ActivityList: Sendable {
  /// The newest first.
  private let entries: [ActivityEntry]

  /// - Parameter items: those of the store, for their names.
  package init(_ log: [AuditEntry] = [], of items: [Item] = []) {
    let names = items.reduce(into: [:]) { names, item in names[item.id] = item.title }
    entries = log.reversed().map { ActivityEntry($0, names) }
  }

  /// The entries that contain each word of the text.
  package func entries(matching text: String) -> [ActivityEntry] {
    let words = text.lowercased().split(whereSeparator: \.isWhitespace)
    return entries.filter { entry in words.allSatisfy { entry.searched.contains($0) } }
  }
}
