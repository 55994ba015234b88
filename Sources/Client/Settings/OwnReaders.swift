internal import Glibc
internal import Processes
internal import ReaderBus
package import ReaderClient
package import SecretModel
package import Whorl

/// Readers of this program's own, for commands that need no store.
package struct OwnReaders {
  package let selection: ReaderSelection
  package let configuration: Configuration

  /// A reader process of this program, for commands that need no store. It starts when it is first used.
  package func reader() -> any FingerprintReader { reader(selection, fprintd: configuration.fprintd) }

  /// The same with another selection.
  ///
  /// - Parameter trace: the device whose traffic is logged, and the log file.
  package func reader(_ selection: ReaderSelection, fprintd: FprintdPlace? = nil, trace: ReaderTrace? = nil)
    -> any FingerprintReader
  {
    // If the program is missing, starting it fails with an error.
    let places = HelperPlaces.reader
    return ReaderProcess(
      program: places.locate(configured: configuration.readerProgram) ?? places.installed[0],
      selection: selection,
      fprintd: fprintd ?? .system, trace: trace)
  }

  /// Why the store knows of no finger.
  package func whyNoFingerIsKnown() async -> VaultError {
    await problemOfFprintd().map { .reader($0) } ?? .notEnrolled
  }

  /// Why fprintd cannot be reached; nil if it can, or is not installed. It may have readers and fingers that nobody knows of
  /// meanwhile, because the automatic choice of a reader goes on without it.
  package func problemOfFprintd() async -> ReaderError? {
    let isInstalled = access("/usr/share/dbus-1/system-services/net.reactivated.Fprint.service", F_OK) == 0
    guard selection == .automatic, isInstalled || configuration.fprintd != nil else { return nil }
    let fprintd = reader(.fprintd(device: nil), fprintd: configuration.fprintd)
    var problem: ReaderError?
    do throws(ReaderError) {
      _ = try await fprintd.readers()
    } catch .fprintdUnreachable(let words) {
      problem = .fprintdUnreachable(words)
    } catch {
      // Other errors of fprintd do not explain what is missing.
    }
    await fprintd.shutdown()
    return problem
  }
}
