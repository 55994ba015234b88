internal import Moving

extension Failure {
  /// The failure for each error of reading another program's secrets.
  init(_ error: ImportError) {
    let (status, name): (ExitStatus, String?) =
      switch error {
      case .missing: (.notFound, "errSecItemNotFound")
      case .malformed, .unreadable: (.damaged, "errSecDecode")
      case .unavailable: (.unavailable, nil)
      case .declined: (.refused, Failure.cancelled.name)
      case .ownService: (.refused, "errSecParam")
      case .system: (.inputOutput, "errSecIO")
      }
    self.init(status, error.explanation, name: name)
  }
}
