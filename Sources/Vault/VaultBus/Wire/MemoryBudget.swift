internal import Primitives
internal import SDBus
internal import SecretModel
internal import Synchronization

/// Limits the service's memory for all connections of one user.
final class MemoryBudget: Sendable {
  private let limit: Int
  private let used = Mutex(0)

  /// - Parameter limit: in bytes.
  init(limit: Int) { self.limit = limit }

  /// A part of the budget, given back when this object is deallocated.
  final class Share: Sendable {
    private let budget: MemoryBudget
    private let bytes: Int

    fileprivate init(_ budget: MemoryBudget, _ bytes: Int) {
      self.budget = budget
      self.bytes = bytes
    }

    deinit { budget.used.withLock { $0 -= bytes } }
  }

  /// Nil if the other shares leave less.
  func share(_ bytes: Int) -> Share? {
    let fits = used.withLock { used in
      guard bytes <= limit - used else { return false }
      used += bytes
      return true
    }
    return fits ? Share(self, bytes) : nil
  }

  var mebibytes: Int { limit >> 20 }
}

/// The memory of an answer, until the client has read it.
final class UnreadAnswer: Sendable {
  /// Answers without secrets count only from this cost on. Only a few smaller ones can be unread, since the connection
  /// then stops reading calls.
  private static let smallest = 16 << 10

  private let budget: MemoryBudget
  private let shares = Mutex<(bytes: Int, all: [MemoryBudget.Share])>((0, []))

  init(_ budget: MemoryBudget) { self.budget = budget }

  var isEmpty: Bool { shares.withLock { $0.all.isEmpty } }

  /// Takes memory for the secrets of the answer, before they are copied into a file.
  ///
  /// - Throws: `busy` where the answers that the user's programs have not read leave less.
  func take(forSecrets bytes: Int) throws(VaultError) {
    if bytes > 0 { try fill(bytes) }
  }

  /// Takes the rest of the memory for a complete answer.
  ///
  /// - Throws: as ``take(forSecrets:)``.
  func take(for values: [BusValue]) throws(VaultError) {
    let (message, files) = (values.cost, values.fileSizes.reduce(0, +))
    if message > Self.smallest || files > 0 { try fill(message + files) }
  }

  /// Takes more memory, up to this total.
  private func fill(_ bytes: Int) throws(VaultError) {
    let missing = bytes - shares.withLock { $0.bytes }
    guard missing > 0 else { return }
    guard let share = budget.share(missing) else {
      throw .busy("programs of this user leave more than \(budget.mebibytes) MiB of answers unread")
    }
    shares.withLock {
      $0.bytes += missing
      $0.all.append(share)
    }
  }
}

extension [BusValue] {
  /// The bytes of each of the sealed memory files.
  var fileSizes: [Int] { descriptors.compactMap { SealedFile.size(of: $0.rawValue) } }
}
