import GRDB
import Keys
package import Presence
package import Primitives
package import SecretModel
package import VaultStore
package import VaultSync

/// The circle of a store, and the records of its items. Shows no prompts: what it returns is encrypted to the members.
package struct SyncedItems {
  private let store: Store
  private let nonces: JoinNonces

  /// The maximum number of records in one page.
  private static let pageCount = 500

  package init(_ store: Store, _ nonces: JoinNonces) { (self.store, self.nonces) = (store, nonces) }

  // MARK: Status

  package func status() throws(VaultError) -> SyncStatus {
    try store.read { snapshot in
      guard let circle = try snapshot.circle() else {
        return SyncStatus(standing: try snapshot.slot(.circle) == nil ? .none : .outdated)
      }
      let progress = try snapshot.syncProgress()
      let loose = try snapshot.records(where: "item IS NULL")
      let waiting = loose.filter { $0.head.state == .waiting }
      let standing = try circle.standing
      return SyncStatus(
        standing: standing, circle: circle.circle,
        members: try circle.members.map { member in
          let id = try member.id
          return SyncMember(
            id: id, name: circle.name(of: id), isThisMachine: id == circle.id,
            tier: VaultStatus.Tier(rawValue: member.locks.tier), hasPasscode: member.locks.hasPasscode)
        },
        candidates: progress.candidates.compactMap { try? JoiningCandidate($0, circle).shown },
        words: try circle.words?.words ?? [], hasAgreed: circle.joining?.consent != nil,
        unconfirmed: try circle.unconfirmed.map { change in
          SyncStatus.MemberChange(
            by: circle.name(of: change.signer), added: change.added.map { circle.name(of: $0) },
            removed: change.removed.map { circle.name(of: $0) })
        },
        isLocked: circle.isLocked, isForked: circle.isForked,
        items: try snapshot.recordCount(where: "item IS NOT NULL") + waiting.count,
        pending: try snapshot.recordCount(where: "published IS NOT digest")
          + (standing == .member
            ? snapshot.recordCount(where: "epoch < ? AND published IS digest", [circle.epoch]) : 0)
          + max(0, circle.chain.count - min(circle.published, progress.circleRecords))
          + progress.candidates.count { $0.isAnswerPending },
        waiting: waiting.map {
          SyncStatus.Waiting(
            item: $0.head.title, reason: $0.head.reason.flatMap { .init(rawValue: $0) } ?? .refused)
        },
        kept: loose.filter { $0.head.state == .kept }.map { row in
          SyncStatus.Kept(
            id: row.keptID, item: row.head.title,
            writer: MemberID(row.head.writer).map { circle.name(of: $0) } ?? "", written: row.head.modified)
        }, lost: progress.lost)
    }
  }

  // MARK: Members

  /// How a store begins with a circle.
  package enum Beginning {
    case new
    case rescuing(Circle.Rescue)
    case asking([CircleRecord])
  }

  /// Begins a circle, or asks to join one.
  ///
  /// - Parameters:
  ///   - recovery: the public key of the store's recovery key.
  ///   - proof: throws if the passcode or the recovery key was changed since it was given.
  package func begin(
    _ beginning: Beginning, machine: String, recovery: AgePublicKey, after proof: (StoreSnapshot) throws -> Void
  ) throws(VaultError) {
    let tier = store.seal.tier
    try store.commit(items: true) { change in
      try proof(change)
      let old = try change.circle()
      if let old, try old.standing == .member {
        throw VaultError.invalidRequest("this store shares with other computers already")
      }
      let asked = old?.joining == nil ? [] : try change.syncProgress().ownMessages
      try change.storeEarlierConflicts()
      try change.leaveCircle()
      let owner = try CircleOwner(
        machine: machine, recovery: recovery, salt: change.store.keys.databaseID,
        change.newLocks(after: nil, tier: tier))
      let circle: Circle
      switch beginning {
      case .new: circle = try .new(owner)
      case .rescuing(let rescue): circle = try .rescuing(rescue, owner)
      case .asking(let chain):
        let nonce = try JoinNonce()
        circle = try .asking(owner, of: chain, nonce)
        nonces.keep(nonce, of: circle.id)
      }
      var progress = SyncProgress()
      progress.circleRecords = circle.published
      progress.obsolete =
        circle.rescue.map { rescue in rescue.chain.dropFirst().map { SyncPath.circle($0.epoch).text } } ?? []
      // Beside its new request an earlier one would be that of another machine, and a member could not tell which is which.
      if old?.circle == circle.circle { progress.obsolete += asked }
      try change.put(circle)
      try change.put(progress)
      if try circle.standing == .member { try change.shareOpenItems() }
    }
  }

  /// The reason that the prompt shows before a change of the members, and the access control to satisfy.
  ///
  /// - Throws: `itemGone` for a machine that is unknown.
  package func prompt(
    for change: SyncMemberChange
  ) throws(VaultError) -> (reason: String, access: AccessControl)? {
    let status = try status()
    let presence = AccessControl(.presence)
    switch change {
    case .answer, .refuse, .reject: return nil
    case .agree: return ("share secrets with the computer that shows the same six words", presence)
    case .approve(let id, _):
      guard let machine = status.candidates.first(where: { $0.id == id }) else { throw .itemGone }
      // Secrets under the passcode are encrypted for the new machine, too.
      let access = try hasRecordsUnderPasscode() ? AccessControl(.passcode) : presence
      return ("let the computer “\(machine.name)” read what is shared", access)
    case .remove(let id):
      guard let machine = status.members.first(where: { $0.id == id }) else { throw .itemGone }
      return ("remove “\(machine.name)” from the computers that share secrets", presence)
    case .confirm:
      let others = status.members.filter { !$0.isThisMachine }.map { "“\($0.name)”" }
      return ("share secrets with \(others.joined(separator: ", "))", presence)
    case .leave:
      // What was never shared needs no proof, and neither does what an earlier version made.
      return status.standing == .member ? ("share no secrets with other computers any more", presence) : nil
    }
  }

  private func hasRecordsUnderPasscode() throws(VaultError) -> Bool {
    try store.read { snapshot in
      guard let circle = try snapshot.circle() else { return false }
      return try snapshot.records(where: "1").contains { row in
        try row.revision(for: circle).head.item.map { SecretLock(try $0.item).needsPasscode } ?? false
      }
    }
  }

  /// The digest of the newest list of members, of which a prompt tells.
  package func newestList() throws(VaultError) -> [UInt8]? {
    try store.read { snapshot in try snapshot.circle()?.last.digest }
  }

  /// - Parameters:
  ///   - shown: the proofs that the owner has given; nil for a change that asks for none.
  ///   - list: ``newestList()`` before the owner was asked. A list that came meanwhile is not confirmed with it.
  package func change(_ what: SyncMemberChange, _ shown: GivenProofs?, after list: [UInt8]?) throws(VaultError) {
    try store.commit(items: true) { change in
      if let shown { try change.requireCurrent(shown) }
      guard var circle = try change.circle() else {
        if what == .leave, try change.slot(.circle) != nil { return try change.leaveCircle() }
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      var progress = try change.syncProgress()
      switch what {
      case .answer(let id):
        // The answer names the newest list, so that this machine's own entry has to be up to date before it.
        try circle.use(change.newLocks(after: circle.own.locks, tier: store.seal.tier))
        try progress.answer(id, in: circle)
      case .agree: try circle.consent()
      case .approve(let id, let replaced):
        guard let candidate = progress.candidates.first(where: { $0.id == id.description }) else {
          throw VaultError.itemGone
        }
        guard circle.mayPublish else { throw VaultError.invalidRequest("confirm the earlier changes first") }
        let joining = try JoiningCandidate(candidate, circle)
        try circle.admit(joining.request.member, named: joining.agreedName(), replacing: replaced)
        progress.candidates.removeAll { $0.id == id.description }
        for path in [SyncPath.request(id), .answer(id), .opening(id), .consent(id)] {
          progress.obsolete.append(path.text)
        }
      case .refuse(let id): progress.candidates.removeAll { $0.id == id.description }
      case .remove(let id):
        guard id != circle.id else {
          throw VaultError.invalidRequest("to remove this computer itself, use 'whorl sync leave --this-computer'")
        }
        try circle.remove(id)
        progress.heads[id.description] = nil
        progress.obsolete.append(SyncPath.head(id).text)
      case .confirm:
        guard circle.last.digest == list else {
          throw VaultError.busy("your computers have changed once more meanwhile")
        }
        circle.confirm()
      case .reject: circle.lock()
      case .leave:
        guard try circle.standing == .member, circle.members.count > 1 else { return try change.leaveCircle() }
        try circle.remove(circle.id)
        try change.forgetRecords()
        progress = SyncProgress()
        progress.circleRecords = circle.published
      }
      try change.put(circle)
      try change.put(progress)
      // What the passcode has just opened is encrypted for the newest members.
      if let key = shown?.passcode?.key { try change.encryptAgain(for: circle, with: key) }
    }
  }

  /// Encrypts the files that are published from now on to a new recovery key.
  package func use(recoveryKey text: SharedSecret) throws(VaultError) {
    let id = store.keys.databaseID
    let pair = try EncryptedFile.KeyPair(recovery: RecoveryKey.slotKey(of: text.bytes), salt: id)
    try store.commit { change in
      guard var circle = try change.circle() else { return }
      try circle.use(recovery: pair.publicKey, salt: id)
      try change.put(circle)
    }
  }

  // MARK: Decisions

  /// Drops a version that lost a conflict.
  package func drop(kept id: String) throws(VaultError) {
    try store.commit(items: true) { change in try SyncJournal(change).delete(change.kept(id)) }
    store.database.forgetOldPages()
  }

  /// The access control to satisfy before a version that lost becomes the current one.
  package func access(ofKept id: String) throws(VaultError) -> AccessControl {
    try store.read { snapshot in try snapshot.arrived(snapshot.kept(id)).item.access }
  }

  /// Makes a version that lost a conflict the current one.
  package func use(kept id: String, _ evidence: consuming Evidence) throws(VaultError) {
    let shown = try evidence.current()
    try store.commit(items: true) { change in
      let kept = try change.kept(id)
      let arrived = try change.arrived(kept)
      try change.require(shown, for: arrived.item.access)
      let current = try change.item(like: arrived.record)
      let earlier = try current.flatMap { try change.record(ofItem: $0.id) == nil ? nil : $0.id }
      let keys = try SecretKeys(of: change, passcodeKey: shown.passcode?.key)
      let hidden: HiddenSecret
      do throws(SecretObstacle) {
        hidden = try arrived.revision.secret(with: keys)
      } catch {
        throw VaultError(error, arrived.item.accessibility)
      }
      let outcome = try SyncedItem(arrived.item, arrived.record, arrived.revision).store(
        ItemWriter(change, journal: nil), with: keys, over: earlier, boundTo: change.touchedSet(shown))
      let stored: [UInt8]? = if case .stored(let id) = outcome { id } else { nil }
      try SyncJournal(change).adopt(arrived.revision, hidden, arrived.record, stored, resolving: kept)
    }
    evidence.succeed()
    store.database.forgetOldPages()
  }

  /// The access controls to satisfy before a waiting item is stored: its own, and that of an item in its place that was
  /// never shared.
  package func access(ofWaiting name: ItemName) throws(VaultError) -> [AccessControl] {
    try store.read { snapshot in
      let arrived = try snapshot.arrived(snapshot.waiting(name))
      return [arrived.item.access] + (try snapshot.item(like: arrived.record)?.accessControl.map { [$0] } ?? [])
    }
  }

  /// Stores a waiting item. An item in its place that was never shared is kept as a version that lost a conflict.
  package func bind(_ name: ItemName, _ evidence: consuming Evidence) throws(VaultError) {
    let shown = try evidence.current()
    try store.commit(items: true) { change in
      var row = try change.waiting(name)
      let arrived = try change.arrived(row)
      try change.require(shown, for: arrived.item.access)
      var earlier = row.item
      if let there = try change.item(like: arrived.record), !there.dead, there.id != row.item {
        let wanted = try change.wanted(.ids([ItemID(bytes: there.id)]), EarlierProofs())
        let released = try change.release(wanted, shown)[0]
        let item = NewItem(
          arrived.record.itemClass, wanted[0].record.attributes, access: wanted[0].access,
          accessibility: wanted[0].accessibility)
        try SyncJournal(change).keep(
          item, SharedSecret(released.secret.copy()), wanted[0].record.created, name)
        earlier = there.id
      }
      let outcome = try SyncedItem(arrived.item, arrived.record, arrived.revision).store(
        ItemWriter(change, journal: nil), with: SecretKeys(of: change, passcodeKey: shown.passcode?.key),
        over: earlier, boundTo: change.touchedSet(shown))
      guard case .stored(let id) = outcome else {
        if case .waiting(.recipients) = outcome {
          throw VaultError.invalidRequest("its secret is not for this computer yet: another one has to sync first")
        }
        throw VaultError.setChanged
      }
      row.head.state = .stored
      row.head.reason = nil
      row.item = id
      try row.write(change)
    }
    evidence.succeed()
    store.database.forgetOldPages()
  }

  /// Opens everything that waits for the passcode, and encrypts for the newest members what needs it. Returns how many
  /// items were stored.
  package func open(_ evidence: consuming Evidence) throws(VaultError) {
    let shown = try evidence.current()
    try store.commit(items: true) { change in
      guard let circle = try change.circle(), let key = shown.passcode?.key else { throw VaultError.touchRefused }
      let keys = try SecretKeys(of: change, passcodeKey: key)
      for var row in try change.records(where: "1") where row.head.state == .waiting {
        guard row.head.reason == SyncStatus.Waiting.Reason.proof.rawValue else { continue }
        let arrived = try change.arrived(row)
        let outcome = try SyncedItem(arrived.item, arrived.record, arrived.revision).store(
          ItemWriter(change, journal: nil), with: keys, over: row.item)
        switch outcome {
        case .stored(let id): (row.head.state, row.head.reason, row.item) = (.stored, nil, id)
        case .waiting(let reason): row.head.reason = reason.rawValue
        }
        try row.write(change)
      }
      try change.encryptAgain(for: circle, with: key)
    }
    evidence.succeed()
    store.database.forgetOldPages()
  }

  // MARK: Files

  /// Waits until the number of records that are unpublished or need a person differs from `known`, and returns it.
  package func change(from known: Int) async throws(VaultError) -> Int {
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let changes = store.recordChanges.value
      let status = try status()
      let count = status.pending + status.kept.count + status.candidates.count + status.unconfirmed.count
      guard count == known else { return count }
      await store.recordChanges.reaches(changes + 1)
    }
  }

  package func receive(_ files: [SyncFile], isLast: Bool) throws(VaultError) -> SyncReceipt {
    try Self.check(files)
    let receipt = try store.commit(items: true) { change in
      guard let circle = try change.circle() else {
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      // Its owner has to decide first.
      guard !circle.isLocked else { return SyncReceipt() }
      let receiver = try SyncReceiver(change, circle, nonces)
      for file in files.sorted(by: SyncPath.comesBefore) { try receiver.receive(file) }
      return try receiver.finish(isLast: isLast)
    }
    if !receipt.removed.isEmpty || !receipt.changed.isEmpty { store.database.forgetOldPages() }
    return receipt
  }

  private static func check(_ files: [SyncFile]) throws(VaultError) {
    let size = files.reduce(0) { $0 + ($1.contents?.count ?? 0) }
    guard size <= SyncFile.pageLimit, files.allSatisfy({ ($0.contents?.count ?? 0) <= SyncFile.sizeLimit }) else {
      throw .invalidRequest("the files of a call are too long")
    }
  }

  package func files(after: String?, puttingBack: Bool) throws(VaultError) -> SyncBatch {
    try store.commit(items: true) { change in
      guard var circle = try change.circle() else {
        throw VaultError.invalidRequest("this store shares with no other computer")
      }
      if after == nil, try circle.standing == .member {
        try circle.use(change.newLocks(after: circle.own.locks, tier: store.seal.tier))
        try change.put(circle)
        var progress = try change.syncProgress()
        try progress.answerAgain(in: circle)
        try change.put(progress)
      }
      return try SyncPublisher(change, circle).page(after: after, limit: Self.pageCount, puttingBack: puttingBack)
    }
  }
}
