import CommandBase
import Primitives
import SecretModel
import Settings

/// The state machine `recipient-v1` (C2SP age-plugin.md): encrypts the keys of files to the public keys that identities
/// name. It needs no store, and asks nobody.
struct AgeWrappingMachine {
  /// The most recipients, identities and keys of files together.
  static let limit = 1_024
  /// The most stanzas that are made: one for each key of a file and each identity.
  static let stanzaLimit = 4_096

  private let session: Session
  private var channel = AgeChannel()
  private var recipients = 0
  private var identities: [String] = []
  private var fileKeys: [SharedSecret] = []

  init(_ session: Session) { self.session = session }

  mutating func run() async throws(Failure) {
    try listen()
    let errors = errors()
    for error in errors { try channel.tell(error) }
    if errors.isEmpty {
      switch await wrapped() {
      case .success(let stanzas): for stanza in stanzas { try channel.tell(stanza) }
      case .failure(let failure): try channel.tell(.error(["internal"], failure))
      }
    }
    try channel.send(AgeStanza(["done"]))
  }

  private mutating func listen() throws(Failure) {
    while true {
      let command = try channel.following()
      switch (command.words[0], command.words.count) {
      case ("done", 1) where command.body.bytes.isEmpty: return
      case ("add-recipient", 2): recipients += 1
      case ("add-identity", 2): identities.append(command.words[1])
      case ("wrap-file-key", 1) where command.body.bytes.count == EncryptedFile.keyCount: fileKeys.append(command.body)
      case ("done", _), ("add-recipient", _), ("add-identity", _), ("wrap-file-key", _):
        throw .brokenByAge("the command \(command.words[0]) has another form")
      // Labels restrict which recipients go together. Those of Whorl go with all.
      default: break
      }
      guard recipients + identities.count + fileKeys.count <= Self.limit,
        identities.count * fileKeys.count <= Self.stanzaLimit
      else { throw .brokenByAge("it says too much") }
    }
  }

  private func errors() -> [AgeStanza] {
    let named = (0..<recipients).map { place in
      AgeStanza(
        ["error", "recipient", "\(place)"],
        text: "Whorl's recipients begin with age1 and not with age1whorl1: 'whorl age public' shows them")
    }
    return named
      + identities.indices.filter { AgeIdentity(parsing: identities[$0]) == nil }.map(AgeStanza.unknownIdentity)
  }

  private func wrapped() async -> Result<[AgeStanza], Failure> {
    let keys = identities.compactMap { AgeIdentity(parsing: $0)?.publicKey }
    guard !keys.isEmpty, !fileKeys.isEmpty else { return .success([]) }
    do throws(Failure) {
      let fileKeys = fileKeys
      return .success(
        try await session.withPrivateVault { vault throws(Failure) in
          var stanzas: [AgeStanza] = []
          for (place, fileKey) in fileKeys.enumerated() {
            for key in keys {
              do throws(VaultError) {
                stanzas.append(
                  AgeFileStanza(box: try await vault.wrapFileKey(fileKey.copy(), to: key)).sent(for: place))
              } catch {
                throw session.explained(error)
              }
            }
          }
          return stanzas
        })
    } catch {
      return .failure(error)
    }
  }
}
