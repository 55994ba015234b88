/// When a reader is armed for a touch.
package enum ArmingPolicy: Sendable {
  /// At once, in a private vault, whose program shows its own prompts.
  case atOnce
  /// When the program has reported that its prompt is shown, so that a touch meant for another program is not taken.
  case whenPromptStands

  /// How long a prompt may take to be shown.
  static let longestPrompt = Duration.seconds(10)

  /// How long a reader stays armed without an event, whatever the context's timeout; nil: no limit.
  var longestTouch: Duration? {
    switch self {
    case .atOnce: nil
    case .whenPromptStands: .seconds(120)
    }
  }
}
