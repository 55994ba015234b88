// Items into an encrypted file.

internal import Primitives
package import SecretModel

/// Writes items with their secrets into an encrypted file, for another machine.
package struct ItemExport: Sendable {
  /// What would be exported.
  package struct Plan: Sendable {
    /// The items that can be exported without asking anybody.
    fileprivate var silent: [ItemID] = []
    /// The items that require authentication.
    fileprivate var asked: [ItemID] = []
    /// The passkeys, which are released one by one.
    fileprivate var passkeys: [Item] = []
    /// The proofs that they require together.
    fileprivate var proofs: Set<AccessControl> = []
    package var staying: [StayingItem] = []

    /// The number of items that would be exported.
    package var count: Int { silent.count + asked.count + passkeys.count }
  }

  /// What was exported.
  package struct Outcome: Sendable {
    package var count: Int
    package var staying: [StayingItem]
  }

  private let store: any VaultService
  private let progress: MoveProgress

  /// - Parameter progress: called for each item that is written.
  package init(from store: any VaultService, _ progress: @escaping MoveProgress = { _, _ in }) {
    self.store = store
    self.progress = progress
  }

  /// Determines what can be exported. Shows no prompt.
  ///
  /// - Parameter search: for the items; dead and damaged ones are listed as staying.
  package func plan(_ search: ItemSearch) async throws(VaultError) -> Plan {
    var plan = Plan()
    var next = search
    repeat {
      // Page by page: a plan holds only the attributes of items that stay.
      let page = try await store.items(next, .nobody)
      for item in page.items { plan.add(item) }
      next.after = page.next
    } while next.after != nil
    return plan
  }

  /// Asks for everything that the items of the plan need, with the reason of `asking`.
  ///
  /// - Parameter asking: in a context that keeps evidence.
  /// - Throws: errors of an authentication.
  package func ask(_ plan: Plan, _ asking: Asking) async throws(VaultError) {
    try await store.show(plan.proofs, asking)
  }

  /// Exports the items of the plan.
  ///
  /// - Parameters:
  ///   - file: an empty file, open for writing. If this throws, the file is incomplete and must be removed.
  ///   - connection: a private vault, which encrypts.
  ///   - asking: in the context of ``ask(_:_:)``.
  /// - Throws: errors of an authentication, of reading and of writing.
  package func write(
    _ plan: Plan, to file: Int32, for recipient: EncryptedFile.Recipient, by connection: any VaultConnection,
    _ asking: Asking
  ) async throws(VaultError) -> Outcome {
    let store = store
    return try await EncryptedTransfer(connection: connection).encrypt(into: file, for: recipient) {
      (socket) async throws(VaultError) in
      var outcome = Outcome(count: 0, staying: plan.staying)
      var done = 0
      let writer = try ItemFileWriter(to: socket)
      for (ids, asking) in [(plan.silent, Asking.nobody), (plan.asked, asking)] {
        try await ReleasesInChunks(store: store, asking: asking).read(ids) {
          (index, released) async throws(VaultError) in
          done += 1
          progress(done, plan.count)
          switch released {
          case .success(let item): try writer.write(item)
          case .failure(let error):
            // The item is no longer found if it was removed meanwhile.
            let search = ItemSearch(groups: .all, ids: [ids[index]], synchronizable: .any, states: [.living, .dead])
            outcome.staying += try await store.allItems(search).map {
              StayingItem(item: $0, obstacle: .unreadable(error))
            }
          }
        }
      }
      for passkey in plan.passkeys {
        done += 1
        progress(done, plan.count)
        switch try await store.export(passkey, asking) {
        case .success(let item): try writer.write(item)
        case .failure(let error): outcome.staying.append(StayingItem(item: passkey, obstacle: .unreadable(error)))
        }
      }
      try writer.end()
      outcome.count = writer.items
      return outcome
    }
  }
}

extension ItemExport.Plan {
  fileprivate mutating func add(_ item: Item) {
    if let obstacle = MoveObstacle(in: item) ?? MoveObstacle(ofGroup: item.attributes) {
      staying.append(StayingItem(item: item, obstacle: obstacle))
    } else if item.itemClass == .passkey {
      passkeys.append(item)
      proofs.insert(item.access)
    } else if item.access == .none {
      silent.append(item.id)
    } else {
      asked.append(item.id)
      proofs.insert(item.access)
    }
  }
}

extension VaultService {
  /// Asks for everything that these access controls need, with the reason of `asking`.
  ///
  /// - Parameter asking: in a context that keeps evidence.
  func show(_ proofs: Set<AccessControl>, _ asking: Asking) async throws(VaultError) {
    for proof in proofs.sorted(by: { $0.order < $1.order }) { _ = try await evaluate(.access(proof), asking) }
  }
}

extension AccessControl {
  /// Fingers come before the passcode, and presence last: it asks for nothing once either was given.
  fileprivate var order: UInt64 {
    if flags.contains(.userPresence) { return .max }
    return flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) ? .max - 1 : flags.rawValue
  }
}

/// Writes the contents of an export into a socket, whose other end encrypts them.
final class ItemFileWriter {
  private let socket: Int32
  /// Bytes that are not written yet, secrets included.
  private var pending = SecretBytes(count: 0)
  private(set) var items = 0

  private static let pendingLimit = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(to socket: Int32) throws(VaultError) {
    self.socket = socket
    try append(JSONLine.line(ItemFileFormat.Beginning()))
  }

  /// Writes an item that can be read. Ignores a damaged one, which is never released.
  func write(_ released: ReleasedItem) throws(VaultError) {
    guard let itemClass = released.item.itemClass else { return }
    let item = NewItem(
      itemClass, released.item.attributes,
      access: AccessControl(unchecked: released.item.access.flags.subtracting(.privateKeyUsage)),
      accessibility: released.item.accessibility)
    let head = DescribedItem(item, secret: released.secret.count)
    try append(JSONLine.line(ItemFileFormat.Line(item: head)))
    released.secret.withUnsafeBytes { keep($0) }
    try append([UInt8(ascii: "\n")])
    items += 1
  }

  /// Writes the last line.
  func end() throws(VaultError) {
    try append(JSONLine.line(ItemFileFormat.Line(end: items)))
    try flush()
  }

  private func append(_ bytes: [UInt8]) throws(VaultError) {
    bytes.withUnsafeBytes { keep($0) }
    if pending.count >= Self.pendingLimit { try flush() }
  }

  private func keep(_ bytes: UnsafeRawBufferPointer) {
    let filled = pending.count
    pending.resize(to: filled + bytes.count)
    pending.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[filled...]).copyMemory(from: bytes) }
  }

  private func flush() throws(VaultError) {
    do throws(WriteError) {
      try pending.write(to: socket)
    } catch {
      throw .inputOutput("the export: \(error)")
    }
    pending.resize(to: 0)
  }
}
