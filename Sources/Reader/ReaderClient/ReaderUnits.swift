package import Primitives
internal import ReaderBus

/// The readers of the system units, one for each adapter. Each is a process without keys that systemd starts on demand.
package struct ReaderUnits: Sendable {
  /// The folder of the units' sockets, which belongs to root.
  package static let folder = "/run/whorl-reader"

  /// The full path of a unit's socket, which belongs to root.
  package static func socket(of adapter: ReaderAdapter, in folder: String = folder) -> String {
    "\(folder)/\(adapter.rawValue)"
  }

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
    _ selection: ReaderSelection, in folder: String = ReaderUnits.folder, madeBy maker: UInt32 = 0,
    fprintd: FprintdPlace = .system
  ) {
    guard selection.nature != .virtual else { return nil }
    self.selection = selection
    self.folder = folder
    self.maker = maker
    self.fprintd = fprintd
  }

  /// The readers; those of all units if the selection names no adapter. If one unit does not answer, the readers of the
  /// others can still be used.
  package func reader() -> any FingerprintReader {
    guard let adapter = selection.adapter else {
      return AutomaticReader { process(of: $0, ReaderSelection($0, device: nil)) }
    }
    return process(of: adapter, selection)
  }

  private func process(of adapter: ReaderAdapter, _ selection: ReaderSelection) -> ReaderProcess {
    let socket = Self.socket(of: adapter, in: folder)
    return ReaderProcess(unit: socket, selection: selection, fprintd: fprintd, maker: maker)
  }
}
