package import SDBus

/// The D-Bus interface between the vault's side and the reader process, documented in
/// `data/dbus/org.whorl.Reader1.xml`.
///
/// The first argument of every method is a number that the caller chooses for this call. Signals about the call contain
/// it, and `Cancel` takes it.
package enum ReaderInterface {
  package static let target = BusTarget(path: "/org/whorl/Reader", interface: "org.whorl.Reader1")

  /// The methods, one for each requirement of ``FingerprintReader``, and `Cancel`.
  package enum Method: String, CaseIterable, Sendable {
    case readers = "Readers"
    case open = "Open"
    case prepare = "Prepare"
    case close = "Close"
    case enroll = "Enroll"
    case identify = "Identify"
    case verify = "Verify"
    case capture = "Capture"
    case storedPrints = "StoredPrints"
    case delete = "Delete"
    case clearStorage = "ClearStorage"
    case suspend = "Suspend"
    case resume = "Resume"
    /// Cancels the call with this number, and answers when that call has ended.
    case cancel = "Cancel"

    /// The D-Bus signature of the arguments.
    package var arguments: String {
      switch self {
      case .readers, .prepare, .close, .clearStorage, .suspend, .resume, .cancel: "t"
      case .open: "tss"
      case .enroll: "ts"
      case .identify: "taya(ayay)"
      case .verify: "tayayay"
      case .capture: "tb"
      case .storedPrints: "ta(ayay)"
      case .delete: "tay"
      }
    }

    /// The D-Bus signature of the results.
    package var results: String {
      switch self {
      case .readers: "aa{sv}"
      case .open, .prepare: "a{sv}"
      case .enroll: "ay"
      case .identify, .verify: "aysayst"
      case .capture: "sa{sv}"
      case .storedPrints: "aayaay"
      case .close, .delete, .clearStorage, .suspend, .resume, .cancel: ""
      }
    }
  }

  /// Emitted during a scan, and once more when the finger is lifted after the answer.
  package static let scanSignal = "Scan"
  package static let scanSignalArguments = "tsuus"
}
