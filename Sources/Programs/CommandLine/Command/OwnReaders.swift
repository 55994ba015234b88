import Glibc
import Processes
import ReaderBus
import ReaderClient
import SecretModel
import Whorl

/// Readers of this program's own, for commands that need no store.
struct OwnReaders {
  let selection: ReaderSelection
  let configuration: Configuration

  /// A reader process of this program, for commands that need no store. It starts when it is first used.
  func reader() -> any FingerprintReader { reader(selection, fprintd: configuration.fprintd) }

  /// The same with another selection.
  ///
  /// - Parameter trace: the device whose traffic is logged, and the log file.
  func reader(_ selection: ReaderSelection, fprintd: FprintdPlace? = nil, trace: ReaderTrace? = nil)
    -> any FingerprintReader
  {
    // If the program is missing, starting it fails with an error.
    let places = HelperPlaces.reader
    return ReaderProcess(
      program: places.locate(configured: configuration.readerProgram) ?? places.installed[0],
      selection: selection,
      fprintd: fprintd ?? .system, trace: trace)
  }

  /// Why the store knows of no finger: an fprintd that is installed and cannot be reached may have some, and the
  /// automatic choice of a reader goes on without it.
  func whyNoFingerIsKnown() async -> VaultError {
    let isInstalled = access("/usr/share/dbus-1/system-services/net.reactivated.Fprint.service", F_OK) == 0
    guard selection == .automatic, isInstalled || configuration.fprintd != nil else {
      return .notEnrolled
    }
    let fprintd = reader(.fprintd(device: nil), fprintd: configuration.fprintd)
    var why = VaultError.notEnrolled
    do throws(ReaderError) {
      _ = try await fprintd.readers()
    } catch .fprintdUnreachable(let words) {
      why = .reader(.fprintdUnreachable(words))
    } catch {
      // Other errors of fprintd do not explain a missing finger.
    }
    await fprintd.shutdown()
    return why
  }
}
