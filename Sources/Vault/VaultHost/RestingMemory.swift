internal import CLinux
internal import SDBus

/// Frees memory while the vault is idle.
///
/// For each page of code that a program uses, the kernel also maps fifteen around it, which are two thirds of an idle
/// `whorld`.
package enum RestingMemory {
  /// Unmaps the program's code each time it was idle for `delay`. The next call maps it again, which takes a fraction
  /// of a millisecond.
  package static func begin(after delay: Duration = .seconds(2)) {
    BusLoop.shared.whenIdle(for: delay) { whorl_unmap_code() }
  }
}
