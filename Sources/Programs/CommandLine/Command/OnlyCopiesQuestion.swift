import ArgumentParser
import CommandBase
import Moving
internal import Prompts
import SecretModel
import Settings

/// The option with which a script says that what exists nowhere else may go.
struct OnlyCopiesOption: ParsableArguments {
  static let spoken = OnlyCopies.option

  @Flag(help: "Delete what exists nowhere else, too, without asking for the word.")
  var deleteOnlyCopies = false
}

extension OnlyCopies {
  /// The most names in a failure's line. The list before it has all of them.
  private static let mostInLine = 5

  /// Names what exists only in `place`, and asks for the word. Does nothing if there is nothing.
  ///
  /// - Throws: where it is to be kept, or nobody can be asked.
  func requireAgreement(to place: String, _ option: OnlyCopiesOption, _ answers: Answers) throws(Failure) {
    guard !isEmpty else { return }
    // Who gives the option has agreed to it, and may know more of other places than is known here.
    guard !option.deleteOnlyCopies else { return list("This will be gone for good:") }
    tell(place)
    guard !answers.noPrompt, Terminal.exists else {
      throw .interactionNotAllowed(
        "\(spoken(place)), and nobody can be asked about it", advice: "\(OnlyCopiesOption.spoken) deletes it for good")
    }
    guard try isWordTyped(answers) else {
      throw Failure(
        .refused, "\(spoken(place)): it is kept", name: "LAError.userCancel",
        advice: "copy it elsewhere first, or type the word '\(OnlyCopies.word)'")
    }
  }

  /// The same for a conversation, which goes on if it is kept.
  func isAgreed(to place: String, _ answers: Answers) throws(Failure) -> Bool {
    guard !isEmpty else { return true }
    tell(place)
    return try isWordTyped(answers)
  }

  private func tell(_ place: String) {
    list("Only in \(place), and nowhere else that Whorl knows of:")
  }

  private func list(_ heading: String) {
    StandardError.line(Visible.text(heading))
    for copy in copies {
      StandardError.line(Visible.text("  \(copy.name)\(copy.note.map { ": \($0)" } ?? "")"))
    }
  }

  private func isWordTyped(_ answers: Answers) throws(Failure) -> Bool {
    guard !answers.noPrompt, let terminal = Terminal() else { return false }
    return try answers.isDeletionTyped(at: terminal)
  }

  private func spoken(_ place: String) -> String {
    let names = copies.prefix(Self.mostInLine).map(\.name).joined(separator: ", ")
    let more = copies.count > Self.mostInLine ? " and \(copies.count - Self.mostInLine) more" : ""
    return "\(place) has \(Spoken.plural(copies.count, "item")) that exist nowhere else (\(names)\(more))"
  }
}

extension Answers {
  fileprivate func isDeletionTyped(at terminal: Terminal) throws(Failure) -> Bool {
    do throws(Unanswered) {
      return try terminal.readLine("To delete all of this for good, type \(OnlyCopies.word). Enter keeps it:")
        == OnlyCopies.word
    } catch {
      throw Failure(error)
    }
  }

  /// Asks for the word before items are lost that were named, and throws without it.
  ///
  /// - Parameter assent: the option that gives it in advance.
  func confirmLoss(assent: String) throws(Failure) {
    guard !noPrompt, let terminal = Terminal() else {
      throw .interactionNotAllowed(
        "this has to be confirmed, and nobody can be asked", advice: "confirm it with \(assent)")
    }
    guard try isDeletionTyped(at: terminal) else { throw .cancelled }
  }
}
