import GRDB
import Glibc
import Testing
import VaultDriver

extension ScratchStore {
  /// Changes the database, like an attacker who can write its file.
  func edit(_ sql: String, _ arguments: StatementArguments = []) async throws {
    let editor = try DatabaseQueue(path: path + "/vault.db")
    try await editor.write { db in try db.execute(sql: sql, arguments: arguments) }
    try editor.close()
  }

  /// Destroys the last manifest, like a loss of power while it is written. The previous one is in the file's other
  /// half.
  func tearLastManifest() throws {
    let descriptor = Glibc.open(path + "/state", O_RDWR)
    // In two steps, because GRDB has comparisons of its own.
    let isOpen: Bool = descriptor >= 0
    try #require(isOpen)
    defer { Glibc.close(descriptor) }
    var numbers: [[UInt8]] = []
    for half in 0..<2 {
      var number = [UInt8](repeating: 0, count: 8)
      try #require(pread(descriptor, &number, 8, half * 512 + 8) == 8)
      numbers.append(number)
    }
    let last = numbers[0].lexicographicallyPrecedes(numbers[1]) ? 1 : 0
    try #require(pwrite(descriptor, [UInt8](repeating: 0xFF, count: 120), 120, last * 512) == 120)
  }
}
