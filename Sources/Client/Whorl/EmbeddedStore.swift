package import Fingerprint
internal import Processes
package import ReaderClient
package import Vault

/// The vault inside this process, with `whorl-reader` as its child.
package enum EmbeddedStore {
  /// Gets the cryptography ready, for a store that will be opened soon: call it beside other work.
  package static func prepare() {
    Vault.prepare()
  }

  /// Where a store is and which reader goes with it, from what a program names and what the configuration says.
  package struct Settings {
    package var directory: String
    package var reader: ReaderSelection
    package var readerProgram: String?
    package var fprintd: FprintdPlace?
  }

  static func settings(directory: String?, reader: String?, configuration path: String?) throws(VaultError) -> Settings
  {
    let configuration: Configuration
    do {
      configuration = try Configuration.load(from: path)
    } catch {
      throw .configuration("\(error.path): \(error.problem)")
    }
    var selection = configuration.reader ?? .automatic
    if let reader {
      guard let named = ReaderSelection(reader) else { throw .configuration("a reader is \(ReaderSelection.forms)") }
      selection = named
    }
    guard let directory = directory ?? configuration.store ?? BaseDirectories.data.map({ "\($0)/whorl" }) else {
      throw .configuration("there is no home directory")
    }
    return Settings(
      directory: directory, reader: selection, readerProgram: configuration.readerProgram,
      fprintd: configuration.fprintd)
  }

  /// Opens the store in a directory. The reader process starts when a finger is first needed.
  package static func open(
    at directory: String, reader selection: ReaderSelection, program: String?, fprintd: FprintdPlace? = nil
  ) throws(VaultError) -> Vault {
    // A recording plays once: the device must stay open from the first call to the last.
    let holdsReader = if case .replay = selection { true } else { false }
    return try Vault(
      at: directory, reader: reader(selection, program: program, fprintd: fprintd), device: selection.device,
      holdsReader: holdsReader, followsRecordedAdapter: selection == .automatic)
  }

  /// The reader process for a selection; it starts when it is first asked something.
  ///
  /// - Parameters:
  ///   - program: the configured path of `whorl-reader`, for where it is in no known place.
  ///   - fprintd: another fprintd than the machine's own.
  ///   - trace: where the traffic with one device is to be logged.
  package static func reader(
    _ selection: ReaderSelection, program: String?, fprintd: FprintdPlace? = nil, trace: ReaderTrace? = nil
  ) -> any FingerprintReader {
    // Where there is none, starting this one fails and says so: only what needs a finger is refused.
    let path = HelperPlaces.reader.locate(configured: program) ?? HelperPlaces.reader.installed[0]
    return ReaderProcess(program: path, selection: selection, fprintd: fprintd ?? .system, trace: trace)
  }
}
