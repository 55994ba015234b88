internal import SDBus
internal import SecretModel
internal import Synchronization

/// The memory of an answer, until the client has read it.
final class UnreadAnswer: Sendable {
  /// An answer without secrets counts from this cost on. Few smaller ones can be unread: the connection reads no further
  /// calls then.
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

  /// Takes the rest of the memory of an answer that is complete.
  ///
  /// - Throws: as ``take(forSecrets:)``.
  func take(for values: [BusValue]) throws(VaultError) {
    let (message, files) = (values.cost, values.fileSizes.reduce(0, +))
    if message > Self.smallest || files > 0 { try fill(message + files) }
  }

  /// Takes what is missing to so many bytes.
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
