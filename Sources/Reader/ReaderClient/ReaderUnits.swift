package import Fingerprint
internal import ReaderBus

/// The readers of the system units. Each unit is a process without keys, which systemd starts on demand.
package struct ReaderUnits: Sendable {
  /// The selected readers.
  package let selection: ReaderSelection
  private let folder: String
  private let maker: UInt32
  private let fprintd: FprintdPlace

  /// - Parameters:
  ///   - selection: the selected readers.
  ///   - folder: the folder of the units' sockets; tests use another one.
  ///   - maker: the owner of the sockets: root, since systemd makes them.
  ///   - fprintd: the fprintd that its unit uses.
  /// - Returns: nil for a virtual reader, which no unit drives. A recording is replayed by the unit for libfprint if
  ///   root has configured this; otherwise the unit's readers do not have the expected nature, and none is listed.
  package init?(
    _ selection: ReaderSelection, in folder: String = ReaderUnit.folder, madeBy maker: UInt32 = 0,
    fprintd: FprintdPlace = .system
  ) {
    guard selection.nature != .virtual else { return nil }
    self.selection = selection
    self.folder = folder
    self.maker = maker
    self.fprintd = fprintd
  }

  /// The readers; those of both units if the selection names neither. If one unit does not answer, the other's readers
  /// can still be used.
  package func reader() -> any FingerprintReader {
    switch selection {
    case .fprintd: process(of: .fprintd, selection)
    case .automatic:
      AutomaticReader(
        fprintd: process(of: .fprintd, .fprintd(device: nil)), direct: process(of: .libfprint, .libfprint(device: nil)))
    default: process(of: .libfprint, selection)
    }
  }

  private func process(of unit: ReaderUnit, _ selection: ReaderSelection) -> ReaderProcess {
    ReaderProcess(unit: unit.socket(in: folder), selection: selection, fprintd: fprintd, maker: maker)
  }
}
