package import Primitives
package import SDBus

// ReaderBus: what the two sides of a reader process say to each other: org.whorl.Reader1, and org.whorl.ReaderStarter1 in
// the other direction. libfprint, which reads what devices send, runs in a process of its own (docs/decisions/0017 and 0074).
//
// Begin here, and at `ReaderRequest`, which is a call with its arguments. `ReaderValues` has the values in messages: each
// names its fields once, with the coder of SDBus (`BusFields`). `ReaderObject` serves any reader to a peer. The other side
// is ReaderClient.

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
  }

  /// Emitted during a scan, and once more when the finger is lifted after the answer.
  package static let scanSignal = "Scan"
  package static let scanSignalArguments = "t" + ScanEvent.busSignature
}

/// The D-Bus interface that the starter of a reader process serves to it on the same connection, documented in
/// `data/dbus/org.whorl.ReaderStarter1.xml`.
///
/// A reader process is confined and cannot connect to anything itself.
package enum ReaderStarterInterface {
  package static let target = BusTarget(path: "/org/whorl/ReaderStarter", interface: "org.whorl.ReaderStarter1")

  /// Takes the address of a message bus and returns a socket that is connected to it.
  package static let connectToBus = "ConnectToBus"
  package static let connectToBusArguments = "s"
  package static let connectToBusResults = "h"
}

/// The D-Bus error of each ``ReaderError``: its name, and its associated value as the text.
extension ReaderError {
  private static let prefix = "org.whorl.Reader1.Error."

  /// The name of an error and its text, which is written, or replaced by one that is read.
  private struct Form {
    var name = ""
    var text: String
    let isRead: Bool

    mutating func callAsFunction(_ name: String, _ error: ReaderError) -> ReaderError {
      self.name = name
      return error
    }

    mutating func callAsFunction(_ name: String, _ text: String) -> String {
      self.name = name
      if !isRead { self.text = text }
      return self.text
    }

    /// No text is an empty one.
    mutating func callAsFunction(_ name: String, _ text: String?) -> String? {
      let text: String = self(name, text ?? "")
      return text.isEmpty ? nil : text
    }
  }

  /// One of each.
  private static let samples: [ReaderError] = [
    .absent, .permissionDenied(nil), .busy(holder: nil), .removed, .tooHot, .cancelled, .notSupported, .storageFull,
    .notOnChip, .duplicate, .badTemplate, .suspended, .printsChanged, .processDied(""), .cannotStart(""),
    .fprintdRefused(""), .fprintdUnreachable(""), .missedByFprintd(""), .fprintdFilesUnreadable(nil),
    .looksForAnyFinger, .deletesOnlyAllFingers, .notLent(""), .device(""),
  ]

  private func coded(_ f: inout Form) -> ReaderError {
    switch self {
    case .absent: f("Absent", self)
    case .permissionDenied(let text): .permissionDenied(f("PermissionDenied", text))
    case .busy(let holder): .busy(holder: f("Busy", holder))
    case .removed: f("Removed", self)
    case .tooHot: f("TooHot", self)
    case .cancelled: f("Cancelled", self)
    case .notSupported: f("NotSupported", self)
    case .storageFull: f("StorageFull", self)
    case .notOnChip: f("NotOnChip", self)
    case .duplicate: f("Duplicate", self)
    case .badTemplate: f("BadTemplate", self)
    case .suspended: f("Suspended", self)
    case .printsChanged: f("PrintsChanged", self)
    case .processDied(let text): .processDied(f("ProcessDied", text))
    case .cannotStart(let text): .cannotStart(f("CannotStart", text))
    case .fprintdRefused(let text): .fprintdRefused(f("FprintdRefused", text))
    case .fprintdUnreachable(let text): .fprintdUnreachable(f("FprintdUnreachable", text))
    case .missedByFprintd(let text): .missedByFprintd(f("MissedByFprintd", text))
    case .fprintdFilesUnreadable(let text): .fprintdFilesUnreadable(f("FprintdFilesUnreadable", text))
    case .looksForAnyFinger: f("LooksForAnyFinger", self)
    case .deletesOnlyAllFingers: f("DeletesOnlyAllFingers", self)
    case .notLent(let text): .notLent(f("NotLent", text))
    case .device(let text): .device(f("Device", text))
    }
  }

  private var form: Form {
    var form = Form(text: "", isRead: false)
    _ = coded(&form)
    return form
  }

  package var busName: String { Self.prefix + form.name }

  /// Empty if the error has no associated value.
  package var busText: String { form.text }

  /// The error that a reader process answered with. An unknown name becomes an error with the text of the message.
  package init(busName name: String, text: String) {
    var form = Form(text: text, isRead: true)
    self = Self.samples.first { $0.busName == name }?.coded(&form) ?? .device("\(name): \(text)")
  }
}
