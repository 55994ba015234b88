/// A command for a step or a part of it, and the question whether to run it.
package struct SetupOffer: Sendable {
  /// In plain words, without names of commands.
  package let question: String
  package let command: [String]
  /// Whether yes is the default answer.
  package let isYesByDefault: Bool

  init(question: String, command: [String], isYesByDefault: Bool = false) {
    (self.question, self.command, self.isYesByDefault) = (question, command, isYesByDefault)
  }
}
