import Whorl

extension Failure {
  /// What each end of reading another program's secrets means to the person.
  init(_ error: ImportError) {
    switch error {
    case .missing(let path):
      self.init(.notFound, "there is nothing at \(path)", name: "errSecItemNotFound", advice: "name where it is")
    case .malformed(let why):
      self.init(.damaged, why, name: "errSecDecode", advice: "nothing was brought in")
    case .unavailable(let why): self.init(.unavailable, why, advice: "install or start it, and try again")
    case .unreadable(let why): self.init(.damaged, "an entry \(why)", name: "errSecDecode", advice: "correct it")
    case .declined(let what):
      self.init(
        .refused, "\(what) was closed without an answer", name: "LAError.userCancel",
        advice: "import again: what is there is not brought in twice")
    case .ownService:
      self.init(
        .refused, "Whorl itself is the Secret Service of this session, and has what it has", name: "errSecParam",
        advice: "to reach the program that had that part before, first give it back: whorl secret-service disable")
    case .system(let what):
      self.init(.inputOutput, "cannot read \(what)", name: "errSecIO", advice: "see its permissions")
    }
  }
}
