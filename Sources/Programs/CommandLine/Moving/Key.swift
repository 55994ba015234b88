import ArgumentParser
import CommandBase
internal import Moving
import SecretModel
import Settings
import Whorl

struct Key: Command {
  static let configuration = CommandConfiguration(
    commandName: "key",
    abstract: "Show this store's public key, for exports of other machines.",
    discussion: """
      'whorl export --to KEY' on another machine encrypts a file that this store alone opens, with 'whorl import'. The key \
      is no secret. Its private half is kept in the store, as an item of the group org.whorl.key, and a touch or the \
      passcode releases it for an import. The first call makes the pair. Without that item, files for it cannot be opened.

      Examples:
        whorl key
        whorl key --json
      """)

  @OptionGroup var options: GlobalOptions

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let key: AgePublicKey
    do throws(Failure) {
      key = try await publicKey(session)
    } catch  where error.isOfClosedItems {
      try await session.openIfWaiting(session.answers(), to: "make the store's key")
      key = try await publicKey(session)
    }
    if options.json { return try JSON.print(["publicKey": key.description]) }
    try StandardOutput.line(key.description)
  }

  private func publicKey(_ session: Session) async throws(Failure) -> AgePublicKey {
    try await session.request { store in
      try await StoreKey(of: store).publicKey { () async throws(VaultError) in
        let connection = try VaultConnector.connectPrivately(session.configuration)
        let pair: Result<EncryptedFile.KeyPair, VaultError>
        do throws(VaultError) {
          pair = .success(try await connection.makeKeyPair())
        } catch {
          pair = .failure(error)
        }
        await connection.close()
        return try pair.get()
      }
    }
  }
}
