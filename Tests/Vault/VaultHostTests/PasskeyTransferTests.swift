import Glibc
import Keys
import Moving
import Primitives
import SecretModel
import Testing
import Vault
import VaultDriver
import VaultHost

@Suite("The import and export of passkeys")
struct PasskeyTransferTests {
  private static let ed25519 = "MC4CAQAwBQYDK2VwBCIEIG36EZkFL7Wb7TMyhIC7rmUqOiAeND6UPvaEMCZWbRqp"

  /// A file with a passkey for each of these IDs in base64.
  private func file(_ ids: String...) throws -> PasskeyFile {
    let items = ids.map {
      #"{"credentials":[{"type":"passkey","credentialId":"\#($0)","rpId":"example.com","username":"","#
        + #""userDisplayName":"","userHandle":"BAU","key":"\#(Self.ed25519)"}]}"#
    }
    let text = #"{"version":{"major":1},"accounts":[{"items":[\#(items.joined(separator: ","))]}]}"#
    return try PasskeyFile(SharedSecret(SecretBytes(copying: Array(text.utf8).span)))
  }

  @Test("an import of passkeys brings in each planned passkey once, also if another import runs meanwhile")
  func once() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    let rule = AccessControl(.presence)
    func bring(_ plan: ItemFilePlan, of work: PasskeyImport) async throws -> ItemFileOutcome {
      try await Person(passcodes: [ScratchStore.passcode]).with(session) {
        try await work.bring(plan, Asking(in: $0))
      }
    }
    let first = PasskeyImport(try file("AQ", "Ag"), into: session, access: rule)
    #expect(try await bring(first.plan(), of: first).brought.count == 2)
    let second = PasskeyImport(try file("Ag", "Aw", "Aw", "BA"), into: session, access: rule)
    let plan = try await second.plan()
    #expect(plan.coming.count == 2 && plan.alreadyThere.count == 1 && plan.duplicates.count == 1)
    let meanwhile = PasskeyImport(try file("BA"), into: session, access: rule)
    #expect(try await bring(meanwhile.plan(), of: meanwhile).brought.count == 1)
    let outcome = try await bring(plan, of: second)
    #expect(outcome.brought.count == 1 && outcome.alreadyThere.count == 2)
    #expect(outcome.duplicates.count == 1 && outcome.unusable.count == 0)
    #expect(try await session.passkeyReadiness().capacity == 996)
  }

  @Test("an export of passkeys shows the name of each site, or its ID where it has none")
  func titles() async throws {
    let store = try await ScratchStore()
    let session = VaultSession(of: try store.open())
    let key = SharedSecret(try PrivateKey.generate(.ed25519).pkcs8())
    let moving = MovingPasskey(secretKey: SharedSecret(try Random.key()), key: key)
    for (number, name) in [(UInt8(1), "Example"), (2, "")] {
      let new = NewPasskey(
        relyingParty: "example.com", relyingPartyName: name,
        user: Passkey.User(handle: [number], name: "", displayName: ""), algorithm: .ed25519, isDiscoverable: true,
        clientDataHash: [])
      let item = NewItem(
        .passkey, new.attributes(credentialID: [number], publicKey: []), access: AccessControl(.presence))
      _ = try await session.addKey(item, from: .passkey(SharedSecret(moving.bytes)))
    }
    var template = Array("/tmp/whorl-export-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    defer { close(file) }
    unlink(template)
    let (connection, phrase) = (LocalVaultConnection(), SharedSecret(SecretBytes(text: "phrase")))
    let export = PasskeyExport(try await session.allItems(ItemSearch(.passkey)), from: session)
    let count = try await Person(passcodes: [ScratchStore.passcode]).with(session, .keepingEvidence(.never)) {
      try await export.write(to: file, for: .passphrase(phrase), by: connection, Asking(in: $0))
    }
    #expect(count == 2)
    let opened = SharedSecret(try await connection.fileKey(of: file, with: .passphrase(phrase)))
    let text = try await PasskeyFile.contents(of: file, key: opened, by: connection).bytes.text
    #expect(text.contains(#""title":"Example""#) && text.contains(#""title":"example.com""#))
    await connection.close()
  }
}
