/// The records of the rows that were opened last, so that a search does not decrypt the same attributes again.
///
/// A record is used again only if all columns of its row are as they were when it was opened. So another revision, or a
/// row that was changed in the file, is opened anew. The key of all attributes is in memory for as long as the store is
/// open, so this keeps nothing that could not be read without it. Secrets are not kept.
struct OpenedRecords {
  /// The most records: those of ``half`` rows, and of as many before.
  static let limit = 2 * half
  private static let half = 8_192
  /// The largest box of attributes that is kept, in bytes.
  private static let longest = 2_048

  private typealias Entry = (row: ItemRow, record: ItemRecord)

  private var new: [Int64: Entry] = [:]
  private var old: [Int64: Entry] = [:]

  var count: Int { new.count + old.count }

  /// The record of a row, as it was opened before; nil if it was not, or if the row was another.
  mutating func record(of row: ItemRow) -> ItemRecord? {
    guard let number = row.row else { return nil }
    if let entry = new[number] { return entry.row == row ? entry.record : nil }
    guard let entry = old[number], entry.row == row else { return nil }
    keep(entry.record, of: entry.row)
    return entry.record
  }

  mutating func keep(_ record: ItemRecord, of row: ItemRow) {
    guard let number = row.row, row.attributes.count <= Self.longest else { return }
    if new.count >= Self.half { (new, old) = ([:], new) }
    new[number] = (row, record)
  }
}
