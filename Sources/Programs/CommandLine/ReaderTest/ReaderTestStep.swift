import ArgumentParser
import Fingerprint

/// One step of `reader test`.
enum ReaderTestStep: String, CaseIterable, ExpressibleByArgument {
  case capture, clear, enroll, list, verify, identify, wrong, retry, cancel, suspend, touches, unplug, delete

  /// What a driver must be able to do for the step; nil where every driver can.
  var feature: ReaderDescription.Feature? {
    switch self {
    case .capture: .capture
    case .clear: .storageClear
    case .list: .storageList
    case .verify: .verify
    case .identify: .identify
    case .delete: .storageDelete
    case .enroll, .wrong, .retry, .cancel, .suspend, .touches, .unplug: nil
    }
  }

  /// What is run where no steps are named.
  ///
  /// A recording answers what was recorded and nothing else. `clear` would take other people's prints, and a reader that
  /// is built in, or that nobody knows to be pluggable, is not unplugged unless that is asked for.
  static func usual(for reader: ReaderDescription, touches: Int) -> [ReaderTestStep] {
    // The picture alone: what libfprint's own recordings of readers that hand out pictures are of.
    let picture: [ReaderTestStep] = reader.features.contains(.capture) ? [.capture] : []
    guard reader.nature != .replayed else {
      return picture.isEmpty ? [.enroll, .list, .verify, .identify, .delete] : picture
    }
    let isPluggable = reader.nature == .physical && reader.identity.vendor != nil && reader.identity.fixedPort == nil
    return picture + [.enroll, .list, .verify, .identify, .wrong, .retry, .cancel, .suspend]
      + (touches > 0 ? [.touches] : [])
      + (isPluggable ? [.unplug] : []) + [.delete]
  }
}

/// The value of `--steps`.
struct StepList: ExpressibleByArgument {
  var steps: [ReaderTestStep]

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false)
    steps = names.compactMap { ReaderTestStep(rawValue: String($0)) }
    guard steps.count == names.count else { return nil }
  }
}
