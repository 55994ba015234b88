import Presence
package import Primitives
import Processes
package import ReaderClient
import SecretModel
import VaultStore

/// The readers that the service's stores use. Clients cannot choose them.
package enum ServiceReader: Sendable {
  /// The readers of the system units.
  case units(ReaderUnits)
  /// A `whorl-reader` that whorld starts itself, over the readers of this selection.
  case child(ReaderSelection)

  /// The readers that an administrator has selected: hardware and recordings through the system units, virtual readers
  /// through a child process.
  package init(_ selection: ReaderSelection) {
    if let units = ReaderUnits(selection) {
      self = .units(units)
    } else {
      self = .child(selection)
    }
  }
}

extension ReaderDesk {
  /// The readers of the service, for the vaults of all users in this process.
  ///
  /// - Parameter locks: the folder of the locks that all vault processes share; nil: this process is alone.
  init(for reader: ServiceReader, sharedIn locks: String?) {
    let turn = locks.map { $0 + "/reader.lock" }
    switch reader {
    case .units(let units):
      self.init(
        units.reader(), preference: ReaderPreference(units.selection),
        machine: turn.map { MachineTurn($0, at: .ofUnits) })
    case .child(let selection):
      self.init(
        ReaderProcess(
          program: HelperPlaces.reader.locate() ?? HelperPlaces.reader.installed[0], selection: selection),
        preference: ReaderPreference(selection), machine: turn.map { MachineTurn($0, at: .ofOwnProcess) })
    }
  }
}
