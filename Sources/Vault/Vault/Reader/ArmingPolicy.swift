/// When a reader is armed for a touch.
package enum ArmingPolicy: Sendable {
  /// With the request: of a vault of one program, which shows its own prompts.
  case atOnce
  /// When whoever shows the prompt has said that it stands, so that no program gets a touch that was meant for another.
  case whenPromptStands

  /// How long a prompt may take to stand.
  static let longestPrompt = Duration.seconds(10)

  /// How long a reader stays armed when nothing happens, whatever the context says; nil where nobody else waits for it.
  var longestTouch: Duration? {
    switch self {
    case .atOnce: nil
    case .whenPromptStands: .seconds(120)
    }
  }
}
