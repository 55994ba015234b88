internal import Moving
internal import PromptTexts
import SecretModel

/// The report of `whorl export`.
struct ExportReport: Encodable {
  private var file: String
  private var exported: Int
  private var staying: [MigrationReport.Staying]

  init(file: String, _ outcome: ItemExport.Outcome) {
    self.file = file
    exported = outcome.count
    staying = outcome.staying.map { MigrationReport.Staying(item: $0.item.called, reason: $0.obstacle.words(.export)) }
  }

  func print(json: Bool) throws(Failure) {
    if json { return try JSON.print(self) }
    StandardError.line("Exported \(Spoken.plural(exported, "item")) to \(Visible.text(file)).")
    guard !staying.isEmpty else { return }
    StandardError.line("Not exported: \(Spoken.plural(staying.count, "item")):")
    for item in staying { StandardError.line("  \(Visible.text("\(item.item): \(item.reason)"))") }
  }
}
