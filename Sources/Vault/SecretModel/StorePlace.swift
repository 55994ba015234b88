package import Fingerprint

/// The store that a connection opens or creates.
package enum StorePlace: Sendable, Hashable {
  /// The caller's own store in the system service, which decides where it is and which reader it uses.
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

/// The folder of a store, and the reader that it uses.
package struct StoreFolder: Sendable, Hashable {
  /// The full path of the store's directory.
  package var directory: String
  package var reader: ReaderSelection
  /// The configured path of `whorl-reader`; nil: its installed place.
  package var readerProgram: String?
  /// An fprintd other than the machine's own; nil: the machine's own.
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
