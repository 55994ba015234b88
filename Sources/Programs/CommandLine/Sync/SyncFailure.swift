import SecretModel
import SyncRepository

extension Failure {
  /// The failure for an error of a sync.
  ///
  /// - Parameter remote: the remote's URL, if it is known.
  init(_ error: SyncRunError, remote: String? = nil) {
    let remote = remote ?? "the remote"
    switch error {
    case .vault(let error): self.init(error)
    case .noGit(let why): self.init(.unavailable, why, advice: "install git, which 'whorl sync' uses")
    case .unusableRemote(let why):
      self = .usage(
        "the remote cannot be used: \(why)",
        advice: "name it as git does: ssh://HOST/PATH, HOST:PATH, https://HOST/PATH or a folder")
    case .noRemote:
      self.init(
        .notFound, "no remote is known for this store",
        advice:
          "'whorl sync init REMOTE' begins, 'whorl sync join REMOTE' joins your other computers, and 'whorl sync remote "
          + "REMOTE' names the repository where the store shares already")
    case .notInCircle(.removed):
      self.init(
        .refused, "another of your computers has removed this one, which receives no more changes",
        advice: "its items stay; 'whorl sync join' asks to be let in again")
    case .notInCircle(.asking):
      self.init(
        .refused, "this computer is waiting for approval",
        advice: "run 'whorl sync approve' on another of your computers")
    case .notInCircle(.outdated):
      self.init(
        .refused, "an earlier version of Whorl made what this store shares, and protected the copies less",
        name: "errSecWrongSecVersion",
        advice:
          "your items stay here; make a new repository with 'whorl sync init' on one computer, and join it from the "
          + "others with 'whorl sync join'")
    case .notInCircle:
      self.init(
        .notFound, "this store shares with no other computer",
        advice: "'whorl sync init REMOTE' begins, 'whorl sync join REMOTE' joins your other computers")
    case .unreachable(let reason):
      self.init(.unavailable, "\(remote) cannot be reached", advice: reason)
    case .unanswered(let reason):
      self.init(
        .unavailable, "\(remote) does not let this machine in without a passphrase or password (\(reason))",
        advice: "nobody can type one when 'whorl sync' runs by itself: give the remote a key without a passphrase "
          + "(IdentityFile in ~/.ssh/config) or a credential helper, or run 'whorl sync now' at a terminal")
    case .unusableFolder(let folder, let why):
      self.init(
        .refused, "\(folder) cannot be the remote: \(why)",
        advice: "git would run what it names; 'git init --bare FOLDER' makes a folder that is safe")
    case .empty:
      self.init(.notFound, "\(remote) is empty: no computer shares there yet", advice: "'whorl sync init' makes one")
    case .taken:
      self.init(
        .exists, "computers share in \(remote) already", name: "errSecDuplicateItem",
        advice: "'whorl sync join' asks to be let in; to begin anew, name an empty repository")
    case .foreign:
      self.init(
        .refused, "\(remote) has files that whorl has not written, and was not changed",
        advice: "name an empty repository")
    case .newerFormat:
      self.init(
        .damaged, "\(remote) was written by a newer version of Whorl", name: "errSecWrongSecVersion",
        advice: "install that version here, too")
    case .olderFormat:
      self.init(
        .refused, "an earlier version of Whorl wrote \(remote), and protected what is in it less",
        name: "errSecWrongSecVersion",
        advice: "make a new, empty repository and name that to 'whorl sync init'; delete the old one afterwards")
    case .tooMuch(let what):
      self.init(.damaged, "\(remote) was not changed: \(what)", advice: "check who else can write to it")
    case .refused(let reason):
      self.init(
        .refused, "\(remote) rejects changes from this machine: \(reason)",
        advice: "check its rules for the branch main")
    case .contested:
      self.init(
        .tryAgain, "other machines published changes at the same time, five times in a row", advice: "try again")
    case .busy:
      self.init(.tryAgain, "another run of 'whorl sync' is not finished", advice: "try again")
    case .damaged(let reason):
      self.init(.damaged, "git cannot use its copy of \(remote)", advice: reason)
    case .system(let what): self.init(.inputOutput, what, name: "errSecIO", advice: Explanation.advice(onFileError: 0))
    }
  }
}
