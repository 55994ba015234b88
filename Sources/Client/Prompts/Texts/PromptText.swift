// Prompts: what people are shown and asked. Begin with `PromptText`, the sentences of a prompt; `Texts/Visible.swift` makes
// the names of strangers safe to show. `Terminal` has the keys and lines of a terminal, `List` the items of a store as a
// window lists them.

package import Primitives
package import SecretModel

/// The texts of prompts. Texts chosen by other programs, such as the names of items, pass through ``PromptLabel``.
package enum PromptText {
  /// The prompt for a touch.
  ///
  /// - Parameters:
  ///   - asker: the program for which this one asks; nil if it asks for itself.
  ///   - keys: names the keys that may be pressed instead.
  package static func touch(_ request: TouchRequest, for asker: PromptAsker? = nil, keys: String?) -> String {
    let keys = keys.map { " (\($0))" } ?? ""
    let touch = touch(request)
    switch request.purpose {
    case .enroll(let finger):
      let words = Text.plural(
        "{touch} with {finger}, {count} touch in all", "{touch} with {finger}, {count} touches in all",
        request.reader.enrollStages, ["touch": touch, "finger": Spoken.finger(finger)])
      return words + keys
    case .confirm(let finger):
      return Text.of(
        "{touch} once more with {finger}, to confirm", ["touch": touch, "finger": Spoken.finger(finger)]) + keys
    case .read, .evaluate:
      let act = act(of: request)
      if let asker { return "\(asker.wants(to: act ?? Text.of("go on"))) \(sentence(touch))\(keys)" }
      return (act.map { Text.of("{touch} to {act}", ["touch": touch, "act": $0]) } ?? touch) + keys
    }
  }

  /// The words with what ends a sentence.
  package static func sentence(_ words: String) -> String { Text.of("{words}.", ["words": words]) }

  /// "Touch the fingerprint reader".
  package static func touch(_ request: TouchRequest) -> String {
    let reader = ["reader": Spoken.theReader(request)]
    return request.reader.scanType == .swipe ? Text.of("Swipe {reader}", reader) : Text.of("Touch {reader}", reader)
  }

  /// What the touch is for, to follow "to"; nil if this is unknown. An item is a password, which is read, or a key,
  /// which is not.
  package static func act(of request: TouchRequest) -> String? {
    switch request.purpose {
    case .read(let items, let reason):
      if let reason {
        Text.of("use {names}, for: {reason}", ["names": names(items), "reason": reason])
      } else {
        Text.of("use {names}", ["names": names(items)])
      }
    case .evaluate(let reason): reason
    case .enroll, .confirm: nil
    }
  }

  /// An item's name in a prompt. A password may lack its service, a key its label.
  private static func label(_ name: ItemName) -> String {
    let shown = PromptLabel.text(name.description)
    return shown.isEmpty ? Text.of("an item without a name") : shown
  }

  /// The names of items, each between quotation marks.
  private static func names(_ items: [ItemName]) -> String {
    PromptLabel.names(items.map(\.description), unnamed: Text.of("an item without a name"))
  }

  /// The keys while another program of the same user uses the reader.
  package static var rejectKeys: String { Text.of("Ctrl-R: reject that request, Esc: cancel this one") }

  /// The keys during the wait for a finger.
  package static func keys(fallback: String?, cancel: String) -> String {
    fallback.map { Text.of("Enter: {fallback}, Esc: {cancel}", ["fallback": $0, "cancel": cancel]) }
      ?? Text.of("Esc: {cancel}", ["cancel": cancel])
  }

  /// The question for a secret, without its colon. `reason` is the program's reason.
  ///
  /// - Parameter asker: the program for which this one asks; nil if it asks for itself.
  package static func question(
    _ request: SecretRequest, reason: String? = nil, for asker: PromptAsker? = nil
  ) -> String {
    switch request {
    case .passcode(let attempt):
      let wrong = attempt > 1 ? "\(Text.of("Wrong passcode.")) " : ""
      if let asker { return "\(wrong)\(asker.wants(to: reason ?? Text.of("go on"))) \(Text.of("Passcode"))" }
      return wrong + (reason.map { Text.of("Passcode to {act}", ["act": $0]) } ?? Text.of("Passcode"))
    case .newPasscode: return Text.of("New passcode")
    case .recoveryKey: return Text.of("Recovery key")
    case .applicationPassword(let name):
      return Text.of("Application password of {name}", ["name": label(name)])
    }
  }

  package static func retry(_ reason: RetryReason) -> String {
    switch reason {
    case .general: Text.of("That could not be read: lift and touch again")
    case .tooShort: Text.of("Too short: touch again, a little longer")
    case .centerFinger: Text.of("Off centre: put the middle of the finger on the reader")
    case .removeFinger: Text.of("Lift the finger, then touch again")
    case .tooFast: Text.of("Too fast: touch again, a little longer")
    }
  }

  package static func noMatch(remaining: Int) -> String {
    remaining == 0
      ? Text.of("No match") : Text.plural("No match, {count} touch left", "No match, {count} touches left", remaining)
  }

  package static func stage(completed: Int, of count: Int) -> String {
    let places = ["completed": "\(completed)", "count": "\(count)"]
    return completed < count
      ? Text.of("Stage {completed} of {count}: lift and touch again", places)
      : Text.of("Stage {completed} of {count}", places)
  }

  /// Why the passcode is asked for in place of a finger, as a sentence.
  package static func unavailable(_ error: VaultError) -> String {
    let what = error.explanation.what
    return sentence("\(what.prefix(1).uppercased())\(what.dropFirst())")
  }

  /// The text of a notice.
  package static func notice(_ notice: Notice) -> String {
    switch notice {
    case .unknownPrintsOnChip(let count):
      Text.plural(
        "The reader's chip also holds {count} print that this store does not know.",
        "The reader's chip also holds {count} prints that this store does not know.", count)
    case .leftOnChip(let finger, let error):
      if error == .deletesOnlyAllFingers {
        Text.of(
          "The print of {finger} stays on the reader: {what}. {advice}.",
          ["finger": Spoken.finger(finger), "what": error.explanation.what, "advice": error.explanation.advice])
      } else {
        Text.of(
          "The print of {finger} stays on the reader's chip: {what}.",
          ["finger": Spoken.finger(finger), "what": error.explanation.what])
      }
    case .goneFromChip(let fingers):
      Text.of(
        "The reader does not hold the print of {fingers} any more; what is bound to the enrolled fingers stays closed. 'whorl unenroll FINGER' accepts that, with the passcode.",
        ["fingers": Spoken.fingers(fingers)])
    case .changedElsewhere(let fingers, let lost):
      changedElsewhere(fingers, lost)
    case .passcodeDelay(let seconds):
      Text.of("The next passcode is accepted in {time}.", ["time": Spoken.duration(seconds)])
    case .readerInUse(.anotherUser):
      Text.of("Another user's request has the reader; this one waits for it.")
    case .unanswered:
      Text.of("Nobody answered.")
    case .readerInUse(.otherVault):
      Text.of("Another program has the reader; this request waits for it.")
    case .rejected(let program):
      Text.of(
        "{program} has rejected this request: its own gets the reader.", ["program": self.program(program)])
    case .readerInUse(.program(let name, let items)):
      if items.isEmpty {
        Text.of("{program} has the reader; this request waits for it.", ["program": program(name)])
      } else {
        Text.of(
          "{program} has the reader for {names}; this request waits for it.",
          ["program": program(name), "names": names(items)])
      }
    }
  }

  private static func changedElsewhere(_ fingers: [Finger], _ lost: [ItemName]) -> String {
    let change =
      fingers.isEmpty
      ? Text.of("The enrolled fingers were changed in fprintd by another program.")
      : Text.of(
        "The enrolled fingers were changed in fprintd by another program: {fingers} gone or enrolled anew.",
        ["fingers": Spoken.fingers(fingers)])
    let loss =
      lost.isEmpty
      ? Text.of("Nothing was bound to the set.")
      : Text.of(
        "Destroyed with the old set of fingers: {names}.", ["names": lost.map(label).joined(separator: ", ")])
    return "\(change) \(loss)"
  }

  /// The name of a program that the vault names (`ProgramLabel`), to begin a sentence: that of its file where the path is
  /// known, and otherwise what the program calls itself.
  private static func program(_ label: String?) -> String {
    guard let label else { return Text.of("Another program") }
    if label.hasSuffix(")"), let path = label.ranges(of: " (/").last,
      let file = label[path.upperBound...].dropLast().split(separator: "/").last
    {
      return PromptLabel.word(String(file))
    }
    let own = label.firstRange(of: " (").map { label[..<$0.lowerBound] } ?? label[...]
    return Text.of("A program that calls itself “{name}”", ["name": PromptLabel.text(String(own))])
  }
}

/// Makes a name chosen by another program safe for a prompt: short, on one line, and without the characters with which
/// the prompt delimits names.
package enum PromptLabel {
  /// The most characters of a name that are shown.
  package static let longest = 64
  /// The most names that one prompt shows. It does not release further items.
  package static let most = 8

  /// The name without quotation marks, brackets, line ends, marks of the reading direction and other invisible characters.
  /// Of a long one the middle is left out, so that both ends can be compared.
  package static func text(_ name: String, longest: Int = longest) -> String {
    let plain = String.UnicodeScalarView(name.unicodeScalars.filter { $0.looksLikeSpace || !isLeftOut($0) })
    let words = String(plain).seen
    // Counted in code points, since a character may have any number of combining marks.
    let scalars = words.unicodeScalars
    guard scalars.count > longest else { return words }
    let end = (longest - 1) / 2
    return String(String.UnicodeScalarView(scalars.prefix(longest - 1 - end))) + "…"
      + String(String.UnicodeScalarView(scalars.suffix(end)))
  }

  /// The most characters of a text that is shown whole. Desktops cut longer ones off.
  package static let longestWhole = 256

  /// All of a text that a program wants carried out, such as a command. What is not seen, moves what stands beside it, or
  /// could end the quotation marks around the text stands as `\u{…}`. Nil if that is longer than `longest`: nobody
  /// can allow what is not shown.
  package static func whole(_ text: String, longest: Int = longestWhole) -> String? {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar == " " || scalar.isASCII && !scalar.isUnseen || isPlain(scalar) {
        shown.append(scalar)
      } else {
        shown += "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars
      }
      if shown.count > longest { return nil }
    }
    return String(shown)
  }

  /// Whether a character outside of ASCII stands for itself wherever it is shown.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .spacingMark: return false
    default: break
    }
    return !scalar.isUnseen && !scalar.looksLikeSpace && !isLeftOut(scalar) && !isReadFromRight(scalar)
  }

  /// Whether the scalar is in one of the blocks of scripts that are written from right to left.
  private static func isReadFromRight(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }

  /// All of these names, each between quotation marks.
  ///
  /// - Parameter unnamed: replaces a name without any visible character.
  package static func names(_ names: [String], unnamed: String? = nil) -> String {
    names.map { name in
      let shown = text(name)
      return "“\(shown.isEmpty ? unnamed ?? Text.of("a secret without a name") : shown)”"
    }.joined(separator: ", ")
  }

  /// The name unchanged if it is one word, else between quotation marks, since a name of several words could imitate
  /// the prompt's own text.
  package static func word(_ name: String) -> String {
    let shown = text(name)
    return shown.isEmpty || shown.contains(where: { $0 == " " || $0 == "," }) ? "“\(shown)”" : shown
  }

  private static func isLeftOut(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    // Quotation marks and brackets.
    case .initialPunctuation, .finalPunctuation, .openPunctuation, .closePunctuation: true
    // Those of other categories, among them the primes and the ideographic ditto mark.
    default: "\"'`´<>＜＞＂＇′″‴‵‶‷ʹʺʼʻˮ〃".unicodeScalars.contains(scalar)
    }
  }
}

/// The program for which a prompt asks, in the words of the prompt.
package struct PromptAsker: Sendable, Hashable {
  /// The name for people: "Evolution", "git", "a program that cannot be identified". The program cannot choose it,
  /// except by the name of its file.
  package var name: String
  /// Details, such as the path of its file.
  package var details: String
  /// The name or the path of its icon; nil where it has none.
  package var icon: String?

  package init(name: String, details: String, icon: String? = nil) {
    (self.name, self.details, self.icon) = (name, details, icon)
  }

  /// The first sentence of the prompt: "Evolution wants to read “Mail of alice”."
  package func wants(to act: String) -> String {
    Text.of("{program} wants to {act}.", ["program": leadingName, "act": act])
  }

  /// The text that replaces an unanswered prompt.
  package func wanted(to act: String) -> String {
    Text.of("{program} wanted to {act}; nobody answered.", ["program": leadingName, "act": act])
  }

  /// The line below the prompt.
  package var detailsLine: String { Text.of("Program: {details}", ["details": details]) }

  /// The name at the beginning of a sentence. Only the prompt's own words are capitalized; a name stays unchanged.
  private var leadingName: String {
    let beginnings = [Self.unidentified, String(Self.updatedWords.prefix { $0 != "{" })]
    guard beginnings.contains(where: { !$0.isEmpty && name.hasPrefix($0) }) else { return name }
    return "\(name.prefix(1).uppercased())\(name.dropFirst())"
  }

  /// The name of a program whose file is not known.
  package static var unidentified: String { Text.of("a program that cannot be identified") }

  private static var updatedWords: String { Text.of("a program that says it was {name} before an update") }

  /// The name of a program whose file was replaced or removed since it started: only its own claim.
  package static func updated(_ claimed: String) -> String {
    Text.of("a program that says it was {name} before an update", ["name": PromptLabel.word(claimed)])
  }
}
