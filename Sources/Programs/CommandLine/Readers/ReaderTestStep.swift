import ArgumentParser
import Fingerprint

/// One step of `reader test`.
enum ReaderTestStep: String, CaseIterable, ExpressibleByArgument {
  case capture, clear, enroll, list, verify, identify, wrong, retry, cancel, suspend, touches, unplug, delete

  /// The feature that the step needs; nil if every driver supports it.
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

  /// The steps that run by default.
  ///
  /// A recording can only answer the recorded steps. `clear` would delete other people's prints. `unplug` is left out
  /// for a reader that is built in or may be.
  static func usual(for reader: ReaderDescription, touches: Int) -> [ReaderTestStep] {
    // Only the picture: libfprint's own recordings of readers with pictures contain nothing else.
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
