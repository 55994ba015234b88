package import Fingerprint
package import SDBus

/// The arguments of the signal for a scan's event: the call's number, the event's name, the stage, the number of
/// stages, and the reason of a retry.
extension ScanEvent {
  package func busValues(call: UInt64) -> [BusValue] {
    var stage: (Int, Int) = (0, 0)
    var reason = ""
    let name: String
    switch self {
    case .fingerNeeded: name = "finger-needed"
    case .fingerPossible: name = "finger-possible"
    case .fingerPresent: name = "finger-present"
    case .fingerLifted: name = "finger-lifted"
    case .stage(let completed, let count):
      name = "stage"
      stage = (completed, count)
    case .retry(let why):
      name = "retry"
      reason = why.rawValue
    }
    return [
      .uint64(call), .string(name), .uint32(UInt32(clamping: stage.0)), .uint32(UInt32(clamping: stage.1)),
      .string(reason),
    ]
  }

  /// The event and the number of its call. Nil if the arguments are not those of this signal.
  package static func reading(_ values: [BusValue]) -> (call: UInt64, event: ScanEvent)? {
    guard values.count == 5, let call = values[0].asIdentifier(UInt64.self), let name = values[1].asString,
      let completed = values[2].number(in: 0...ReaderDescription.mostStages),
      let count = values[3].number(in: 0...ReaderDescription.mostStages), let reason = values[4].asString
    else { return nil }
    switch name {
    case "finger-needed": return (call, .fingerNeeded)
    case "finger-possible": return (call, .fingerPossible)
    case "finger-present": return (call, .fingerPresent)
    case "finger-lifted": return (call, .fingerLifted)
    case "stage": return (call, .stage(completed: completed, of: count))
    case "retry": return RetryReason(rawValue: reason).map { (call, .retry($0)) }
    default: return nil
    }
  }
}
