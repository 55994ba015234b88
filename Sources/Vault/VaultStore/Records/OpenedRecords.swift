/// The records of the rows that were opened last, so that a search does not decrypt the same attributes again.
///
/// A record is used again only if all columns of its row but the wrapped item key are as they were when it was opened. So another revision, or a
/// row that was changed in the file, is opened anew. The key of all attributes is in memory for as long as the store is
/// open, so this keeps nothing that could not be read without it. Secrets are not kept, and neither are wrapped item keys: that of
/// an item that ends must not stay in memory.
struct OpenedRecords {
  /// The most records: those of ``half`` rows, and of as many before.
  static let limit = 2 * half
  private static let half = 8_192
  /// The largest box of attributes that is kept, in bytes.
  private static let longest = 2_048

  /// An object, so that a look at it copies no row.
  private final class Entry {
    let row: ItemRow
    let record: ItemRecord

    init(_ row: ItemRow, _ record: ItemRecord) { (self.row, self.record) = (row, record) }
  }

  private var new: [Int64: Entry] = [:]
  private var old: [Int64: Entry] = [:]

  var count: Int { new.count + old.count }

  /// The record of a row, as it was opened before; nil if it was not, or if the row was another.
  mutating func record(of row: ItemRow) -> ItemRecord? {
    guard let number = row.row else { return nil }
    let row = Self.withoutKey(row)
    if let entry = new[number] { return entry.row == row ? entry.record : nil }
    guard let entry = old[number], entry.row == row else { return nil }
    keep(entry, number)
    return entry.record
  }

  mutating func keep(_ record: ItemRecord, of row: ItemRow) {
    guard let number = row.row, row.attributes.count <= Self.longest else { return }
    keep(Entry(Self.withoutKey(row), record), number)
  }

  private static func withoutKey(_ row: ItemRow) -> ItemRow {
    var row = row
    row.itemKey = nil
    return row
  }

  private mutating func keep(_ entry: Entry, _ number: Int64) {
    if new.count >= Self.half { (new, old) = ([:], new) }
    new[number] = entry
  }
}
