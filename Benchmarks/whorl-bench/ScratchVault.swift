import Primitives
import SecretModel
import Whorl

/// A new store that is used through `whorld`, as by any program.
struct ScratchVault {
  let service: any VaultService
  /// What the store's owner would have written down.
  let recoveryKey: String
  private let connection: any VaultConnection

  /// Makes a store without a passcode at `path` and opens it.
  init(at path: String, reader: ReaderSelection = .automatic) async throws {
    let place = StorePlace(directory: path, reader: reader)
    connection = try await VaultConnector.connect(to: place, Configuration())
    let draft = try await connection.create(place, passcode: nil)
    recoveryKey = draft.recoveryKey.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    try await connection.keep(draft.id)
    service = try await connection.open(place)
  }

  func add(_ name: String, _ secret: String, _ constraint: AccessControl.Constraint) async throws -> ItemID {
    let item = NewItem(named: try ItemName(parsing: name), access: AccessControl(constraint))
    let bytes = SecretBytes(copying: Array(secret.utf8).span)
    return try await service.add(item, secret: bytes, replacing: false, .nobody).id
  }

  func close() async { await connection.close() }
}
