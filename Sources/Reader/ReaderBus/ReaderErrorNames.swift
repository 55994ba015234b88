package import Fingerprint

/// The D-Bus error of each ``ReaderError``: its name, and its associated value as the text.
extension ReaderError {
  private static let prefix = "org.whorl.Reader1.Error."

  package var busName: String {
    let name =
      switch self {
      case .absent: "Absent"
      case .permissionDenied: "PermissionDenied"
      case .busy: "Busy"
      case .removed: "Removed"
      case .tooHot: "TooHot"
      case .cancelled: "Cancelled"
      case .notSupported: "NotSupported"
      case .storageFull: "StorageFull"
      case .notOnChip: "NotOnChip"
      case .duplicate: "Duplicate"
      case .badTemplate: "BadTemplate"
      case .suspended: "Suspended"
      case .printsChanged: "PrintsChanged"
      case .processDied: "ProcessDied"
      case .cannotStart: "CannotStart"
      case .fprintdRefused: "FprintdRefused"
      case .fprintdUnreachable: "FprintdUnreachable"
      case .missedByFprintd: "MissedByFprintd"
      case .fprintdFilesUnreadable: "FprintdFilesUnreadable"
      case .looksForAnyFinger: "LooksForAnyFinger"
      case .deletesOnlyAllFingers: "DeletesOnlyAllFingers"
      case .notLent: "NotLent"
      case .device: "Device"
      }
    return Self.prefix + name
  }

  /// Empty if the error has no associated value.
  package var busText: String {
    switch self {
    case .permissionDenied(let text), .busy(let text), .fprintdFilesUnreadable(let text): text ?? ""
    case .processDied(let text), .cannotStart(let text), .fprintdRefused(let text), .fprintdUnreachable(let text),
      .missedByFprintd(let text), .notLent(let text), .device(let text):
      text
    case .absent, .removed, .tooHot, .cancelled, .notSupported, .storageFull, .notOnChip, .duplicate, .badTemplate,
      .suspended, .printsChanged, .looksForAnyFinger, .deletesOnlyAllFingers:
      ""
    }
  }

  /// The error that a reader process answered with. An unknown name becomes an error with the text of the message.
  package init(busName name: String, text: String) {
    let optional = text.isEmpty ? nil : text
    self =
      switch name.hasPrefix(Self.prefix) ? String(name.dropFirst(Self.prefix.count)) : "" {
      case "Absent": .absent
      case "PermissionDenied": .permissionDenied(optional)
      case "Busy": .busy(holder: optional)
      case "Removed": .removed
      case "TooHot": .tooHot
      case "Cancelled": .cancelled
      case "NotSupported": .notSupported
      case "StorageFull": .storageFull
      case "NotOnChip": .notOnChip
      case "Duplicate": .duplicate
      case "BadTemplate": .badTemplate
      case "Suspended": .suspended
      case "PrintsChanged": .printsChanged
      case "ProcessDied": .processDied(text)
      case "CannotStart": .cannotStart(text)
      case "FprintdRefused": .fprintdRefused(text)
      case "FprintdUnreachable": .fprintdUnreachable(text)
      case "MissedByFprintd": .missedByFprintd(text)
      case "FprintdFilesUnreadable": .fprintdFilesUnreadable(optional)
      case "LooksForAnyFinger": .looksForAnyFinger
      case "DeletesOnlyAllFingers": .deletesOnlyAllFingers
      case "NotLent": .notLent(text)
      case "Device": .device(text)
      default: .device("\(name): \(text)")
      }
  }
}
