import GRDB

// The circle and its records, for a store that is in one.
extension StoreTransaction {
  /// Forgets the circle and all of its records. The items stay.
  package func leaveCircle() throws {
    if try slot(.circle) != nil { try remove(.circle) }
    try forgetRecords()
  }

  /// Forgets the records of the circle. The items stay.
  package func forgetRecords() throws {
    changesRecords = true
    try db.execute(sql: "DELETE FROM sync_record")
    try db.execute(sql: "DELETE FROM sync_progress")
  }
}
