/// The kinds of failures with different exit statuses.
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
  /// What should be created exists already.
  case exists
  case inputOutput
  /// A temporary obstacle.
  case tryAgain
  /// The person, the rules or the machine refused it.
  case refused
  case configuration
}
