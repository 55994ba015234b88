import CBOR
import Keys
import Primitives
import SecretModel
import Testing

@testable import Passkeys

/// A program that says one thing in a prompt and then does another.
@Suite("What the touch of a passkey prompt is for")
struct TouchPurposeTests {
  private static let silent: [CBORValue: CBORValue] = [5: ["up": false]]
  private static let lookUps = [Digest.sha256([UInt8](repeating: 0, count: 32)), Digest.sha256([])]

  /// The parts of a sign-in request that a token authenticates.
  private func signing(_ token: TestPlatform.Token) -> [CBORValue: CBORValue] {
    [6: token.mac(TestPlatform.hash), 7: token.version]
  }

  private func making(_ token: TestPlatform.Token) -> [CBORValue: CBORValue] {
    [8: token.mac(TestPlatform.hash), 9: token.version]
  }

  @Test(
    "a key of ssh-keygen -O no-touch-required signs after a touch, validly, and not without one", arguments: [-7, -8])
  func noTouch(algorithm: Int) async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made(
        "ssh:", user: [UInt8](repeating: 0, count: 32), name: "openssh", algorithm: algorithm, discoverable: false)
      let answer = try await platform.assert("ssh:", allow: [id], with: Self.silent)
      let entries = try #require(answer.value?.entries)
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(entries[2]?.byteString?[32] == 0x1D, "the flags say that somebody was there")
      #expect(await platform.vault.prompts.last == "sign in to “ssh:” as openssh")
      await platform.vault.set(.refuses)
      let refused = try await platform.assert("ssh:", allow: [id], with: Self.silent)
      #expect(refused.status == 0x27 && refused.value == nil)
    }
  }

  @Test("the look-up of ssh before it signs needs no touch, and gets no valid signature")
  func sshLooksUp() async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made("ssh:work", discoverable: false)
      let prompts = await platform.vault.prompts
      for hash in Self.lookUps {
        let more = Self.silent.merging([2: .bytes(hash)]) { $1 }
        let entries = try #require(try await platform.assert("ssh:work", allow: [id], with: more).value?.entries)
        let (signature, data) = (try #require(entries[3]?.byteString), try #require(entries[2]?.byteString))
        #expect(data[32] == 0)
        #expect(try !key.verify(signature, of: data + hash, .ecdsa(.sha256, .message, .x962)))
        #expect(try await platform.assert("ssh:work", allow: [[1]], with: more).status == 0x2E)
      }
      #expect(await platform.vault.prompts == prompts)
    }
  }

  @Test("a browser's look-up with the hash of its sign-in needs no touch, also with a list of one")
  func browserLooksUp() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let prompts = await platform.vault.prompts
      #expect(try await platform.assert(allow: [id], with: Self.silent).status == 0)
      #expect(await platform.vault.prompts == prompts)
    }
  }

  @Test("a request with `up` false that has the user verified gets a valid signature, after its touch")
  func verified() async throws {
    try await TestPlatform.with { platform in
      let (id, key) = try await platform.made()
      let count = await platform.vault.prompts.count
      let answer = try await platform.assert(allow: [id], with: [5: ["up": false, "uv": true]])
      let entries = try #require(answer.value?.entries)
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(await platform.vault.prompts.count == count + 1)
    }
  }

  @Test("ssh-keygen finds an earlier key of the same name by the touch of a PIN/UV auth token")
  func earlierKey() async throws {
    try await TestPlatform.with { platform in
      let handle = [UInt8](repeating: 0, count: 32)
      let token = try await platform.token(2, "ssh:")
      #expect(try await platform.assert("ssh:", with: signing(token).merging(Self.silent) { $1 }).status == 0x2E)
      let (_, key) = try await platform.made("ssh:", user: handle)
      let again = try await platform.token(2, "ssh:")
      let prompts = await platform.vault.prompts.count
      let found = try await platform.assert("ssh:", with: signing(again).merging(Self.silent) { $1 })
      let entries = try #require(found.value?.entries)
      #expect(entries[4]?.entries?["id"] == .bytes(handle))
      #expect(try platform.verifies(entries[3]?.byteString, entries[2]?.byteString, key))
      #expect(await platform.vault.prompts.count == prompts)
      #expect(try await platform.assert("ssh:", with: Self.silent).status == 0x2E, "no account without a touch")
    }
  }

  @Test("the touch of a token for a new passkey signs in nowhere, whatever else the token permits")
  func tokenForMore() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      for permissions in [3, 7] {
        let token = try await platform.token(permissions)
        #expect(await platform.vault.prompts.last == "make a passkey for example.com")
        #expect(try await platform.assert(allow: [id], with: signing(token)).status == 0x33)
        #expect(try await platform.assert(with: signing(token)).status == 0x33)
        let looked = try await platform.assert(allow: [id], with: signing(token).merging(Self.silent) { $1 })
        #expect(looked.status == 0, "a browser looks up the passkeys that it excludes")
        #expect(looked.value?.entries?[2]?.byteString?[32] == 0)
        #expect(try await platform.make(user: [9], with: making(token)).status == 0)
      }
    }
  }

  @Test("a token for a sign-in or a new passkey lists, renames and deletes no passkey", arguments: [5, 6, 7])
  func tokenForManagement(permissions: Int) async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let token = try await platform.token(permissions)
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      let hash = CBORValue.bytes(Digest.sha256(Array("example.com".utf8)))
      #expect(try await platform.manage(4, [1: hash], token).status == 0x33)
      #expect(try await platform.manage(6, [2: descriptor], token).status == 0x33)
      #expect(
        try await platform.manage(7, [2: descriptor, 3: ["id": .bytes([1]), "name": "b"]], token).status == 0x33)
      #expect(await platform.vault.passkeys(for: nil).map(\.user.name) == ["alice"])
      #expect(await platform.vault.prompts.count == 2)
    }
  }

  @Test("a touch to list passkeys deletes and renames none: each change has a prompt that names site and account")
  func changes() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made()
      let token = try await platform.token(4, nil)
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      await platform.vault.set(.refuses)
      #expect(try await platform.manage(6, [2: descriptor], token).status == 0x27)
      #expect(
        try await platform.manage(7, [2: descriptor, 3: ["id": .bytes([1]), "name": "b"]], token).status == 0x27)
      #expect(await platform.vault.passkeys(for: nil).map(\.user.name) == ["alice"])
      #expect(
        await platform.vault.prompts.dropFirst() == [
          "list your passkeys", "delete the passkey for example.com as alice",
          "rename the passkey for example.com as alice to b",
        ])
    }
  }

  @Test("the prompt for a new passkey says that an earlier one of the account goes, also after a token's touch")
  func replaced() async throws {
    try await TestPlatform.with { platform in
      let (first, _) = try await platform.made()
      let (second, _) = try await platform.made(name: "bob")
      let token = try await platform.token(1)
      await platform.vault.set(.refuses)
      #expect(try await platform.make(name: "carol", with: making(token)).status == 0x27)
      #expect(await platform.vault.passkeys(for: nil).map(\.credentialID) == [second])
      #expect(first != second)
      await platform.vault.set(.touches)
      let another = try await platform.token(1)
      #expect(try await platform.make(name: "carol", with: making(another)).status == 0)
      #expect(
        await platform.vault.prompts == [
          "make a passkey for example.com as alice", "replace the passkey for example.com as alice with a new one",
          "make a passkey for example.com", "replace the passkey for example.com as bob with a new one",
          "make a passkey for example.com", "replace the passkey for example.com as bob with a new one",
        ])
      // One that is not discoverable replaces none.
      _ = try await platform.made(discoverable: false)
      #expect(await platform.vault.prompts.last == "make a passkey for example.com as alice")
    }
  }

  @Test("nobody is asked for a change of passkeys that changes nothing")
  func nothing() async throws {
    try await TestPlatform.with { platform in
      #expect(try await platform.call(7).status == 0)
      #expect(await platform.vault.prompts.isEmpty, "there are no passkeys to delete")
      let (id, _) = try await platform.made()
      let token = try await platform.token(4, nil)
      let same: CBORValue = [
        2: ["id": .bytes(id), "type": "public-key"],
        3: ["id": .bytes([1]), "name": "alice", "displayName": "Alice Miller"],
      ]
      let prompts = await platform.vault.prompts
      #expect(try await platform.manage(7, same, token).status == 0)
      #expect(await platform.vault.prompts == prompts)
    }
  }

  @Test("a passkey's prompts show names of other programs safely")
  func oddNames() async throws {
    try await TestPlatform.with { platform in
      let (id, _) = try await platform.made("a b", name: "x, and sign in to bank.example")
      let token = try await platform.token(4, nil)
      let descriptor: CBORValue = ["id": .bytes(id), "type": "public-key"]
      func rename(_ user: CBORValue) async throws {
        #expect(try await platform.manage(7, [2: descriptor, 3: user], token).status == 0)
      }
      try await rename(["id": .bytes([1]), "name": "y z"])
      try await rename(["id": .bytes([1]), "name": "y z", "displayName": "Y"])
      try await rename(["id": .bytes([1])])
      #expect(
        await platform.vault.prompts.suffix(3) == [
          "rename the passkey for “a b” as “x, and sign in to bank.example” to “y z”",
          "rename the passkey for “a b” as “y z”", "rename the passkey for “a b” as “y z”",
        ])
    }
  }
}
