internal import CLinux
internal import SDBus

/// Gives back memory while nobody calls the vault.
///
/// For each page of its code that a program uses, the kernel maps fifteen around it. These are two thirds of what an idle
/// `whorld` holds.
package enum RestingMemory {
  /// From now on, unmaps the program's code each time nobody has called for `delay`. The next call maps what it uses,
  /// which takes a fraction of a millisecond.
  package static func begin(after delay: Duration = .seconds(2)) {
    BusLoop.shared.whenIdle(for: delay) { whorl_unmap_code() }
  }
}
