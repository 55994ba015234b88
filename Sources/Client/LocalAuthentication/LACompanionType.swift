/// The kinds of companions (LACompanionType.h, macOS 15). Linux has none.
@nonexhaustive(warn)
public enum LACompanionType: Int, Sendable {
  /// A watch.
  case watch = 1
}
