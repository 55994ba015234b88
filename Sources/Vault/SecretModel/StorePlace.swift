package import Fingerprint

/// Which store a connection opens or makes.
package enum StorePlace: Sendable, Hashable {
  /// The caller's own store in the system service, which knows by itself where it is and which reader goes with it.
  case own
  /// A store in a folder, for a vault that the caller has started.
  case folder(StoreFolder)

  package init(
    directory: String, reader: ReaderSelection = .automatic, readerProgram: String? = nil,
    fprintd: FprintdPlace? = nil
  ) {
    self = .folder(
      StoreFolder(directory: directory, reader: reader, readerProgram: readerProgram, fprintd: fprintd))
  }
}

/// The folder of a store, and which reader goes with it.
package struct StoreFolder: Sendable, Hashable {
  /// The full path of the store's directory.
  package var directory: String
  package var reader: ReaderSelection
  /// The configured path of `whorl-reader`; nil: where installs put it.
  package var readerProgram: String?
  /// Another fprintd than the machine's own.
  package var fprintd: FprintdPlace?

  package init(
    directory: String, reader: ReaderSelection, readerProgram: String?, fprintd: FprintdPlace?
  ) {
    self.directory = directory
    self.reader = reader
    self.readerProgram = readerProgram
    self.fprintd = fprintd
  }
}
