import CommandBase
import Glibc
import Primitives
internal import Prompts
import SecretModel
import SessionPrompts
import Settings
import Whorl

/// The state machine `identity-v1` (C2SP age-plugin.md): has the vault decrypt the keys of files, after what the rule of
/// each key requires.
struct AgeUnwrappingMachine {
  static let identityLimit = 64
  static let fileLimit = 256
  /// The most stanzas that the vault tries.
  static let stanzaLimit = 1_024

  private struct File {
    /// Its number.
    let index: Int
    /// How many stanzas it has.
    var count = 0
    /// Those that a key of Whorl's may open.
    var stanzas: [AgeFileStanza] = []
    /// The places of those that are of no right form.
    var malformed: [Int] = []
  }

  private let session: Session
  private var channel = AgeChannel()
  private var identities: [String] = []
  private var files: [File] = []
  private var stanzaCount = 0

  init(_ session: Session) {
    var session = session
    session.asker = ClientProgram(getppid()).asker()
    self.session = session
  }

  mutating func run() async throws(Failure) {
    try listen()
    try await answer()
    try channel.send(AgeStanza(["done"]))
  }

  // MARK: What age says

  private mutating func listen() throws(Failure) {
    while true {
      let command = try channel.following()
      switch (command.words[0], command.words.count) {
      case ("done", 1) where command.body.bytes.isEmpty: return
      case ("add-identity", 2) where command.body.bytes.isEmpty: identities.append(command.words[1])
      case ("recipient-stanza", 3...): try add(command)
      case ("done", _), ("add-identity", _), ("recipient-stanza", _):
        throw .brokenByAge("the command \(command.words[0]) has another form")
      default: break
      }
      guard identities.count <= Self.identityLimit, files.count <= Self.fileLimit, stanzaCount <= Self.stanzaLimit
      else {
        throw .brokenByAge("it says too much")
      }
    }
  }

  private mutating func add(_ command: AgeStanza) throws(Failure) {
    guard let index = OutsideNumber(digits: command.words[1])?.number(in: 0...Int(Int32.max)),
      index >= files.last?.index ?? 0
    else { throw .brokenByAge("the files are not in order") }
    if files.last?.index != index { files.append(File(index: index)) }
    let last = files.count - 1
    defer { files[last].count += 1 }
    // Other kinds are those of other plugins.
    guard command.words[2] == AgeFileStanza.kind else { return }
    guard let stanza = AgeFileStanza(command.words[3...], command.body) else {
      return files[last].malformed.append(files[last].count)
    }
    files[last].stanzas.append(stanza)
    stanzaCount += 1
  }

  // MARK: The answers

  private mutating func answer() async throws(Failure) {
    let known = identities.compactMap { AgeIdentity(parsing: $0) }
    guard known.count == identities.count else {
      for place in identities.indices where AgeIdentity(parsing: identities[place]) == nil {
        try channel.tell(.unknownIdentity(place))
      }
      return
    }
    for file in files {
      for place in file.malformed {
        try channel.tell(
          AgeStanza(["error", "stanza", "\(file.index)", "\(place)"], text: "the file's header was damaged"))
      }
    }
    let wanted = files.filter { $0.malformed.isEmpty && !$0.stanzas.isEmpty }
    guard !wanted.isEmpty, !known.isEmpty else { return }
    let keys: [(place: Int, key: AgeKey)]
    do throws(Failure) {
      keys = try await self.keys(of: known)
    } catch {
      return try channel.tell(.error(["internal"], error))
    }
    guard !keys.isEmpty else { return }
    for group in try groups(of: wanted) where try await !open(group, with: keys) { return }
  }

  /// The keys of the store that the identities name. Tells the person of those that it does not have, since another
  /// identity may open the file.
  private mutating func keys(of identities: [AgeIdentity]) async throws(Failure) -> [(place: Int, key: AgeKey)] {
    let stored = try await StoredKeys<AgeKey>(in: session.openStore()).all([.living, .dead])
    var keys: [(place: Int, key: AgeKey)] = []
    for (place, identity) in identities.enumerated() {
      switch stored.first(where: { $0.publicKey == identity.publicKey }) {
      case let key? where key.state == .living: keys.append((place, key))
      case let key?: try say("the key \(PromptLabel.word(key.name)) is lost: what it was bound to is gone")
      case nil: try say("the store has no key \(identity.publicKey): it was removed, or is on another machine")
      }
    }
    return keys
  }

  /// Shows the person a message, if age can.
  private mutating func say(_ message: String) throws(Failure) { try channel.tell(AgeStanza(["msg"], text: message)) }

  /// The files for each touch: one, or all if the person says so.
  private mutating func groups(of files: [File]) throws(Failure) -> [[File]] {
    guard files.count > 1 else { return [files] }
    let (yes, no) = (Base64.unpaddedText(of: Array("One touch".utf8)), Base64.unpaddedText(of: Array("One each".utf8)))
    let answer = try channel.ask(
      AgeStanza(["confirm", yes, no], text: "shall one touch decrypt all \(files.count) files?"))
    return answer.words == ["ok", "yes"] ? [files] : files.map { [$0] }
  }

  /// Opens the files with the first key that does, and gives age what it has found.
  ///
  /// - Returns: whether to go on: not after a refusal.
  private mutating func open(_ files: [File], with keys: [(place: Int, key: AgeKey)]) async throws(Failure) -> Bool {
    var closed = files
    for (place, key) in keys where !closed.isEmpty {
      let found: [Int: SharedSecret]
      do throws(Failure) {
        found = try await fileKeys(of: closed, key)
      } catch {
        try channel.tell(.error(["identity", "\(place)"], error))
        return false
      }
      for (index, fileKey) in found.sorted(by: { $0.key < $1.key }) {
        try channel.tell(AgeStanza(["file-key", "\(index)"], fileKey))
      }
      closed.removeAll { found[$0.index] != nil }
    }
    return true
  }

  /// The keys of files that a key of the store opens, by the numbers of the files. Asks for the key once.
  private func fileKeys(of files: [File], _ key: AgeKey) async throws(Failure) -> [Int: SharedSecret] {
    // A touch without a prompt could be meant for anything.
    let noPrompt = !Terminal.exists && !session.canAskElsewhere
    var options = session.contextOptions
    options.interactionNotAllowed = noPrompt
    // One touch is enough for all stanzas of these files: which of them is for this key shows only when it is tried.
    options.keepsEvidence = true
    let chosen = options
    let what = files.count == 1 ? "a file" : "\(files.count) files"
    let wanted = files.map { (index: $0.index, stanzas: $0.stanzas) }
    return try await session.repeatingIfVaultEnds { () throws(Failure) in
      try await session.asking(
        session.answers(noPrompt: noPrompt), options: chosen,
        reason: "decrypt \(what) with the age key \(PromptLabel.word(key.name))", triesFirst: true
      ) { vault, asking in
        var found: [Int: SharedSecret] = [:]
        for file in wanted {
          for stanza in file.stanzas where found[file.index] == nil {
            do throws(VaultError) {
              found[file.index] = SharedSecret(
                try await vault.useKey(key.id, .decrypt(stanza.box, .ageX25519), asking))
            } catch {
              // It is for another key. Swift 6.2 crashes if the catch has the pattern.
              guard case .invalidRequest = error else { throw error }
            }
          }
        }
        return found
      }
    }
  }
}
