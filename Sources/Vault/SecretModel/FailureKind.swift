/// The kinds of failures that programs tell apart by the exit status of a command.
package enum FailureKind: Sendable, Hashable, CaseIterable {
  /// The request itself was wrong.
  case usage
  /// Data are damaged or tampered with.
  case damaged
  /// There is no such item, finger, reader or store.
  case notFound
  /// The reader or the service is unavailable.
  case unavailable
  case internalError
  /// What was to be made exists already.
  case exists
  case inputOutput
  /// Something else was in the way, for a while.
  case tryAgain
  /// The person, the rules or the machine refused it.
  case refused
  case configuration
}
