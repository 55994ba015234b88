/// The records of the rows that were opened last, so that a search does not decrypt the same attributes again.
///
/// A row counts as the same only if everything is the same that its record was opened from and with. So another revision, or
/// a row that was changed in the file, is opened anew. The key of all attributes is in memory for as long as the store is
/// open, so this keeps nothing that could not be read without it. Secrets are not kept.
struct OpenedRecords {
  /// What a record is opened from and with, besides the store's own keys.
  struct Inputs: Equatable {
    let box: [UInt8]
    /// The other columns that the box is bound to.
    let aad: [UInt8]
    let nameIndex: [UInt8]
  }

  /// The most records: those of ``half`` rows, and of as many before.
  static let limit = 2 * half
  private static let half = 1_024
  /// The largest box that is kept, in bytes.
  private static let longest = 2_048

  private typealias Entry = (inputs: Inputs, record: ItemRecord)

  private var new: [Int64: Entry] = [:]
  private var old: [Int64: Entry] = [:]

  var count: Int { new.count + old.count }

  /// The record of a row, as it was opened before; nil if it was not, or from something else.
  mutating func record(ofRow row: Int64, _ inputs: Inputs) -> ItemRecord? {
    if let entry = new[row] { return entry.inputs == inputs ? entry.record : nil }
    guard let entry = old[row], entry.inputs == inputs else { return nil }
    keep(entry.record, ofRow: row, inputs)
    return entry.record
  }

  mutating func keep(_ record: ItemRecord, ofRow row: Int64, _ inputs: Inputs) {
    guard inputs.box.count <= Self.longest else { return }
    if new.count >= Self.half { (new, old) = ([:], new) }
    new[row] = (inputs, record)
  }
}
