// Items out of an encrypted file.

internal import Glibc
package import Primitives
package import SecretModel

/// Imports the items of an export into a store, with their attributes, rules and classes.
///
/// Existing items stay unchanged, so that an import can be run again.
package struct ItemFileImport: Sendable {
  private let file: Int32
  private let key: SharedSecret
  private let store: any VaultService
  private let transfer: EncryptedTransfer
  private let bound: BoundItems
  private let progress: MoveProgress

  /// How to import items that are bound to the enrolled fingers of the other machine.
  package enum BoundItems: Sendable {
    /// One touch binds them to the fingers that are enrolled here.
    case bind
    case leaveOut
  }

  /// - Parameters:
  ///   - file: an encrypted file, open for reading, borrowed for as long as this exists.
  ///   - key: of its contents (``VaultConnection/fileKey(of:with:)``).
  ///   - connection: a private vault, which decrypts.
  ///   - progress: called with bytes of the file while it is read for the plan, and with items while they are stored.
  package init(
    of file: Int32, key: SharedSecret, into store: any VaultService, by connection: any VaultConnection,
    _ bound: BoundItems, _ progress: @escaping MoveProgress = { _, _ in }
  ) {
    (self.file, self.key, self.store, self.bound) = (file, key, store, bound)
    self.progress = progress
    transfer = EncryptedTransfer(connection: connection)
  }

  /// What would be imported. Shows no prompt. Reads the whole file, so that damage is found before anything is stored.
  ///
  /// - Throws: `fileUnreadable`, `inputOutput`, and errors of the store.
  package func plan() async throws(VaultError) -> ItemFilePlan {
    var living = ItemSearch.everything
    living.states = [.living]
    var there = SeenItems()
    repeat {
      let page = try await store.items(living, .nobody)
      for item in page.items {
        if let itemClass = item.itemClass { _ = there.insert(itemClass, item.attributes) }
      }
      living.after = page.next
    } while living.after != nil
    let hasFingers = try await store.hasFingers()
    let all = size
    return try await transfer.decrypt(file, with: key) { [there] (socket) async throws(VaultError) in
      var plan = ItemFilePlan()
      var seen = SeenItems()
      let reader = ItemFileReader(from: socket)
      while let (item, _) = try reader.next() {
        let name = ItemName(of: item.itemClass, item.attributes)
        var comes = false
        if let obstacle = MoveObstacle(ofGroup: item.attributes) {
          plan.unusable.append(UnusableEntry(name.description, .source(Self.words(obstacle))))
        } else if !seen.insert(item.itemClass, item.attributes) {
          plan.duplicates.append(name)
        } else if there.contains(item.itemClass, item.attributes) {
          plan.alreadyThere.append(name)
        } else if item.access.flags.contains(.biometryCurrentSet), let obstacle = obstacle(hasFingers: hasFingers) {
          plan.unusable.append(UnusableEntry(name.description, .source(obstacle)))
        } else {
          comes = true
          plan.coming.append(name)
          if item.access.flags.contains(.biometryCurrentSet) { plan.binding.append(name) }
        }
        plan.comes.append(comes)
        progress(min(reader.count, all), all)
      }
      return plan
    }
  }

  /// The length of the file in bytes; 0 if it is unknown.
  private var size: Int {
    var status = stat()
    return fstat(file, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Imports the items of the plan. Asks for one touch first, if it binds items to fingers.
  ///
  /// Many items are stored in one transaction. If the import is interrupted, each item is stored completely or not at
  /// all, and another import of the file stores the rest.
  ///
  /// - Parameter asking: in a context that may ask, with the reason for the prompt.
  /// - Throws: an error of the authentication, before anything is imported; `fileUnreadable` and `inputOutput`, if the
  ///   file was changed meanwhile; and errors that prevent storing any item. Items stored before stay.
  package func bring(_ plan: ItemFilePlan, _ asking: Asking) async throws(VaultError) -> ItemFileOutcome {
    if plan.binding.count > 0 { _ = try await store.evaluate(.access(AccessControl(.currentSet)), asking) }
    return try await transfer.decrypt(file, with: key) { (socket) async throws(VaultError) in
      var outcome = ItemFileOutcome(
        alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
      var done = 0
      func tell(_ item: NewItem, _ error: VaultError?) {
        let name = ItemName(of: item.itemClass, item.attributes)
        switch error {
        case nil: outcome.brought.append(name)
        case .duplicateItem?: outcome.alreadyThere.append(name)
        case .some(let error): outcome.unusable.append(UnusableEntry(name.description, .refused(error)))
        }
        done += 1
        progress(done, plan.coming.count)
      }
      var arriving = ArrivingItems(in: store)
      do throws(VaultError) {
        let reader = ItemFileReader(from: socket)
        var place = 0
        while let (item, secret) = try reader.next() {
          defer { place += 1 }
          guard place < plan.comes.count, plan.comes[place] else { continue }
          guard item.itemClass != .passkey else {
            tell(item, try await store.refusal(of: item, secret))
            continue
          }
          try await arriving.add(ItemToAdd(item, secret: secret), tell)
        }
        try await arriving.finish(tell)
      } catch {
        await arriving.abandon()
        throw error
      }
      return outcome
    }
  }

  private static func words(_ obstacle: MoveObstacle) -> String {
    obstacle == .ofThisMachine
      ? "is in the group of 'whorl login', which is never imported from a file"
      : "is in the group of the store's own key, which is never imported from a file"
  }

  private func obstacle(hasFingers: Bool) -> String? {
    switch bound {
    case .leaveOut: "is bound to the fingers of the machine it comes from"
    case .bind where !hasFingers:
      "is bound to fingers, and none is enrolled here: 'whorl enroll' one, and import again"
    case .bind: nil
    }
  }
}

/// The plan of an import from a file, with the items' new names.
package struct ItemFilePlan: Sendable {
  package internal(set) var coming = Listing<ItemName>()
  /// The store has an item of that name.
  package internal(set) var alreadyThere = Listing<ItemName>()
  /// Further items of the file with the primary attributes of an earlier one.
  package internal(set) var duplicates = Listing<ItemName>()
  package internal(set) var unusable = Listing<UnusableEntry>()
  /// Those of ``coming`` that one touch binds to the enrolled fingers.
  package internal(set) var binding = Listing<ItemName>()
  /// For each item of the file, in order: whether it will be imported.
  var comes: [Bool] = []

  init() {}
}

/// What an import of a file has done.
package struct ItemFileOutcome: Sendable {
  package internal(set) var brought = Listing<ItemName>()
  package internal(set) var alreadyThere: Listing<ItemName>
  package internal(set) var duplicates: Listing<ItemName>
  package internal(set) var unusable: Listing<UnusableEntry>

  /// The result of a plan by which nothing is imported.
  package init(nothingOf plan: ItemFilePlan) {
    self.init(alreadyThere: plan.alreadyThere, duplicates: plan.duplicates, unusable: plan.unusable)
  }

  init(alreadyThere: Listing<ItemName>, duplicates: Listing<ItemName>, unusable: Listing<UnusableEntry>) {
    (self.alreadyThere, self.duplicates, self.unusable) = (alreadyThere, duplicates, unusable)
  }

  /// Whether all items of the file can be imported.
  package var isWhole: Bool { duplicates.count == 0 && unusable.count == 0 }
}

/// Reads the contents of an export from a socket, whose other end decrypts them.
final class ItemFileReader {
  private let socket: Int32
  /// The received bytes, secrets included.
  private var received = SecretBytes(count: 0)
  /// The number of received bytes that were read.
  private var used = 0
  private var items = 0
  /// The number of bytes received so far.
  private(set) var count = 0
  private var hasBegun = false

  private static let chunkCount = 64 << 10

  /// - Parameter socket: borrowed for as long as this exists.
  init(from socket: Int32) { self.socket = socket }

  /// The next item and its secret; nil at the end of the contents.
  ///
  /// - Throws: `fileUnreadable` for contents of another form, and if they end too early.
  func next() throws(VaultError) -> (item: NewItem, secret: SharedSecret)? {
    if !hasBegun {
      guard try JSONLine.read(line(), as: ItemFileFormat.Beginning.self) == ItemFileFormat.Beginning() else {
        throw .otherContents
      }
      hasBegun = true
    }
    let line = try JSONLine.read(line(), as: ItemFileFormat.Line.self)
    switch (line.item, line.end) {
    case (let head?, nil):
      guard (0...NewItem.secretLimit).contains(head.secret) else { throw .otherContents }
      let secret = try bytes(head.secret)
      guard try bytes(1).withUnsafeBytes({ $0[0] == UInt8(ascii: "\n") }) else { throw .otherContents }
      let item = try head.item
      // Only keys that were made in the vault, or imported there as keys, have this flag.
      guard !item.access.flags.contains(.privateKeyUsage) else { throw .otherContents }
      items += 1
      return (item, SharedSecret(secret))
    case (nil, let count?):
      guard count == items, used == received.count, try !receive() else { throw .otherContents }
      return nil
    default: throw .otherContents
    }
  }

  /// The next line without its newline. No line holds a secret.
  private func line() throws(VaultError) -> [UInt8] {
    var searched = 0
    while true {
      let end = received.withUnsafeBytes { $0[(used + searched)...].firstIndex(of: UInt8(ascii: "\n")) }
      if let end {
        defer { used = end + 1 }
        return received.withUnsafeBytes { Array($0[used..<end]) }
      }
      searched = received.count - used
      guard searched <= ItemFileFormat.lineLimit, try receive() else { throw .otherContents }
    }
  }

  private func bytes(_ count: Int) throws(VaultError) -> SecretBytes {
    while received.count - used < count {
      guard try receive() else { throw .otherContents }
    }
    defer { used += count }
    return received.withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[used..<used + count])) }
  }

  /// Receives more bytes, and drops those already read. False at the end.
  private func receive() throws(VaultError) -> Bool {
    let more = try chunk()
    guard !more.isEmpty else { return false }
    count += more.count
    let kept = received.count - used
    received.withUnsafeMutableBytes { bytes in
      if used > 0, let base = bytes.baseAddress { base.copyMemory(from: base + used, byteCount: kept) }
    }
    received.resize(to: kept)
    used = 0
    received.resize(to: kept + more.count)
    received.withUnsafeMutableBytes { target in
      more.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[kept...]).copyMemory(from: $0) }
    }
    return true
  }

  private func chunk() throws(VaultError) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: socket, upTo: Self.chunkCount)
    } catch {
      throw .inputOutput("the decrypted file: \(error)")
    }
  }
}

/// A set of primary attributes, of which only a hash of 128 bits each is in memory.
///
/// Among 100,000 items a collision has a probability of about 2^-95. Nobody can craft a file with collisions, since
/// random bytes are part of the hash.
struct SeenItems {
  private struct Mark: Hashable {
    var high: Int
    var low: Int
  }

  private let seeds = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
  private var marks: Set<Mark> = []

  func contains(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Bool {
    marks.contains(mark(itemClass, attributes))
  }

  /// Returns false if the item was already in the set.
  mutating func insert(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Bool {
    marks.insert(mark(itemClass, attributes)).inserted
  }

  private func mark(_ itemClass: ItemClass, _ attributes: [AttributeName: AttributeValue]) -> Mark {
    let primary = PrimaryAttributes(of: itemClass, attributes)
    func hash(_ seed: UInt64) -> Int {
      var hasher = Hasher()
      hasher.combine(seed)
      hasher.combine(primary)
      return hasher.finalize()
    }
    return Mark(high: hash(seeds.0), low: hash(seeds.1))
  }
}
