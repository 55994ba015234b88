import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("Damaged items of the Secret Service", .serialized)
struct DamagedItemTests {
  /// Changes a byte of the secret that was stored last, like an attacker who can write the database.
  private func damageLast(in service: RunningSecretService) async throws {
    let result = try await service.python(
      """
      import sqlite3
      database = sqlite3.connect('\(service.store.directory)/vault.db')
      with database:
          row, secret = database.execute('SELECT row, secret FROM item ORDER BY row DESC LIMIT 1').fetchone()
          secret = secret[:-1] + bytes([secret[-1] ^ 1])
          database.execute('UPDATE item SET secret = ? WHERE row = ?', (secret, row))
      database.close()
      """)
    try result.mustSucceed()
  }

  @Test("a damaged Secret Service item is left out of GetSecrets, and GetSecret reports damage, not a lock")
  func open() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      var items: [String] = []
      for number in 0..<3 {
        items.append(try await client.create("\(number)", label: "l", ["n": "\(number)"], session: session))
      }
      try await damageLast(in: service)
      #expect(try await service.secrets(of: items) == ["0", "1"])
      #expect(await client.error(items[2], "Item", "GetSecret", [.objectPath(session)]) == "Failed")
      #expect(try await client.secret(items[0], session: session).text == "0")
    }
  }

  @Test("a damaged Secret Service item with a rule is left out of GetSecrets after a touch")
  func gated() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let open = try await client.create("open", label: "Open", ["n": "1"], session: session)
      let bank = try await client.create("of Bank", label: "Bank", ["n": "2"], session: session)
      try await service.gate("Bank", .presence, .session)
      #expect(try await service.secrets(of: [bank]) == ["of Bank"])
      #expect(try await service.secrets(of: [bank, open]) == ["of Bank", "open"])
      try await damageLast(in: service)
      #expect(try await service.secrets(of: [bank, open]) == ["open"])
      #expect(service.agent.prompts.count == 1)
    }
  }
}
