package import SecretModel

extension ImportError {
  /// Explanations of the errors of reading another program's secrets.
  package var explanation: Explanation {
    switch self {
    case .missing(let path): Explanation("there is nothing at \(path)", advice: "name where it is")
    case .malformed(let why): Explanation(why, advice: "nothing was imported; correct that, and import again")
    case .unavailable(let why): Explanation(why, advice: "install or start it, and try again")
    case .unreadable(let why): Explanation("an entry \(why)", advice: "correct it, and import again")
    case .declined(let what):
      Explanation(
        "\(what) was closed without an answer",
        advice: "import again: what is in the store already is not imported twice")
    case .ownService:
      Explanation(
        "Whorl itself is the Secret Service of this session, and cannot import from itself",
        advice:
          "to import from the earlier program, first make it the Secret Service again: whorl secret-service disable")
    case .system(let what): Explanation("cannot read \(what)", advice: "see its permissions")
    }
  }
}
