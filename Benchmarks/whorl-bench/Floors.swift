import CSQLite
import Keys
import Primitives

/// The cost of each part of a `get` and a `set`, measured in this process.
enum Floors {
  static func samples(database path: String, scratch: String) throws -> [Samples] {
    let key = try Random.key()
    let secret = SecretBytes(copying: Array("correct horse battery staple".utf8).span)
    let box = try AEAD.seal(secret, key: key, aad: [1, 2, 3])
    var all = [
      try Samples.taking("floor: AES-256-GCM open", 2_000) { _ = try AEAD.open(box, key: key, aad: [1, 2, 3]) },
      Samples.taking("floor: HMAC-SHA256", 2_000) { _ = MAC.hmacSHA256(key: key, [1, 2, 3]) },
      try Samples.taking("floor: HKDF", 2_000) { _ = try KDF.hkdf(key: key, info: [1, 2, 3]) },
    ]
    all.append(try lookup(path))
    all.append(try commit(scratch))
    return all
  }

  private static func lookup(_ path: String) throws -> Samples {
    let database = try Connection(path)
    // Search for a name that does not exist, which descends the index in the same way.
    let statement = try database.prepare("SELECT secret FROM item WHERE owner = 0 AND name_index = randomblob(32)")
    return try Samples.taking("floor: SQLite lookup among 100,000", 2_000) { try statement.run() }
  }

  private static func commit(_ path: String) throws -> Samples {
    let bare = try Committing(path)
    return try Samples.taking("floor: SQLite commit, WAL and FULL", 200) { try bare.commit() }
  }

  /// Makes one small durable commit at a time.
  final class Committing {
    private let database: Connection

    init(_ path: String) throws {
      database = try Connection(path)
      try database.execute(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (a, b BLOB)")
    }

    func commit() throws {
      try database.execute("INSERT INTO t VALUES (1, randomblob(300))")
    }
  }
}
