import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("Exports of password managers as JSON")
struct JSONEntriesTests {
  private func read(_ text: String) throws -> ReadEntries {
    try JSONEntries.read(SharedSecret(SecretBytes(text: text)))
  }

  private func items(_ text: String) async throws -> [String: String] {
    let read = try read(text)
    var items: [String: String] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
    }
    return items
  }

  private func attributes(_ text: String, of name: String) async throws -> [String: AttributeValue] {
    let read = try read(text)
    let entry = try #require(read.entries.first { $0.name.description == name })
    let item = try #require(try await read.items(of: entry).first)
    return Dictionary(uniqueKeysWithValues: item.attributes.map { ($0.key.rawValue, $0.value) })
  }

  /// As Bitwarden 2026 writes it, with invented contents.
  private static let bitwarden = #"""
    {
      "encrypted": false,
      "folders": [ { "id": "f-1", "name": "Work" } ],
      "items": [
        {
          "passwordHistory": [ { "lastUsedDate": "2025-01-01T00:00:00.000Z", "password": "old" } ],
          "revisionDate": "2026-01-01T00:00:00.000Z", "deletedDate": null, "id": "i-1", "organizationId": null,
          "folderId": "f-1", "type": 1, "reprompt": 0, "name": "Forum", "notes": "two\nlines", "favorite": false,
          "fields": [
            { "name": "PIN", "value": "1234", "type": 1, "linkedId": null },
            { "name": "totp", "value": "not a code", "type": 0 }, { "name": "old?", "value": "true", "type": 2 }
          ],
          "login": {
            "uris": [
              { "match": null, "uri": "https://forum.test/a,b" }, { "match": 0, "uri": "https://forum.example" },
              { "match": null, "uri": "https://forum.test/a,b" }
            ],
            "username": "ann", "password": "p\"w \u00fc", "totp": "otpauth://totp/Forum:ann?secret=GEZDGNBV",
            "fido2Credentials": [ { "keyValue": "AAAA" } ]
          },
          "collectionIds": null
        },
        { "folderId": null, "type": 2, "name": "Door", "notes": "the code", "secureNote": { "type": 0 } },
        {
          "type": 3, "name": "Visa", "notes": null,
          "card": { "cardholderName": "Ann", "brand": "Visa", "number": "4111", "expMonth": "1", "code": "123" }
        },
        { "type": 5, "name": "Key", "sshKey": { "privateKey": "-----BEGIN", "publicKey": "ssh-ed25519 A" } },
        { "type": 1, "name": "Gone", "deletedDate": "2026-01-01T00:00:00.000Z", "login": { "password": "g" } },
        { "type": 1, "name": "Bare", "login": { "uris": null, "username": null, "password": null, "totp": "GEZDGNBV" } }
      ]
    }
    """#

  @Test("an export of Bitwarden keeps codes, every address, notes, fields, cards and keys, and says what stays behind")
  func bitwarden() async throws {
    #expect(
      try await items(Self.bitwarden) == [
        "Forum/ann": "p\"w ü", "Forum/ann#notes": "two\nlines",
        "Forum/ann#totp": "otpauth://totp/Forum:ann?secret=GEZDGNBV", "Forum/ann#PIN": "1234",
        "Forum/ann#totp 2": "not a code", "Forum/ann#old?": "true", "Door#notes": "the code",
        "Visa#cardholderName": "Ann", "Visa#brand": "Visa", "Visa#number": "4111", "Visa#expMonth": "1",
        "Visa#code": "123", "Key#privateKey": "-----BEGIN", "Key#publicKey": "ssh-ed25519 A", "Bare#totp": "GEZDGNBV",
      ])
    #expect(
      try await attributes(Self.bitwarden, of: "Forum/ann") == [
        "labl": .text("Forum"), "whorl.folder": .text("Work"), "whorl.url": .text("https://forum.test/a,b"),
        "whorl.url.2": .text("https://forum.example"),
      ])
    #expect(try read(Self.bitwarden).unusable.map(\.called) == ["Forum", "Gone"])
  }

  /// As Proton Pass 1.30 writes it, with invented contents.
  private static let proton = #"""
    {
      "version": "1.30.0", "userId": "u", "encrypted": false,
      "vaults": {
        "v-1": {
          "name": "Personal", "description": "", "display": { "color": 0, "icon": 0 },
          "items": [
            {
              "itemId": "i", "shareId": "s",
              "data": {
                "metadata": { "name": "Forum", "note": "a note", "itemUuid": "x" },
                "extraFields": [
                  { "fieldName": "PIN", "type": "hidden", "data": { "content": "1234" } },
                  { "fieldName": "second", "type": "totp", "data": { "totpUri": "otpauth://totp/b?secret=GEZDGNBV" } }
                ],
                "type": "login",
                "content": {
                  "itemEmail": "ann@mail.test", "itemUsername": "ann", "password": "pw",
                  "urls": [ "https://forum.test/", "https://forum.example/" ],
                  "totpUri": "otpauth://totp/a?secret=GEZDGNBV", "passkeys": [ { "keyId": "k" } ]
                }
              },
              "state": 1, "aliasEmail": null, "contentFormatVersion": 6, "createTime": 1, "modifyTime": 2, "pinned": false
            },
            {
              "data": {
                "metadata": { "name": "Mail", "note": "" }, "extraFields": [], "type": "login",
                "content": { "itemEmail": "ann@mail.test", "itemUsername": "", "password": "m", "urls": [], "totpUri": "" }
              },
              "state": 1
            },
            {
              "data": {
                "metadata": { "name": "Card", "note": "" }, "extraFields": [], "type": "creditCard",
                "content": { "cardholderName": "Ann", "cardType": 0, "number": "4111", "pin": "" }
              },
              "state": 1
            },
            {
              "data": {
                "metadata": { "name": "Own", "note": "" }, "extraFields": [], "type": "custom",
                "content": {
                  "sections": [
                    {
                      "sectionName": "S",
                      "sectionFields": [ { "fieldName": "Token", "type": "text", "data": { "content": "t" } } ]
                    }
                  ]
                }
              },
              "state": 1
            },
            {
              "data": { "metadata": { "name": "Gone", "note": "" }, "type": "login", "content": { "password": "g" } },
              "state": 2
            }
          ]
        }
      }
    }
    """#

  @Test("an export of Proton Pass as JSON keeps codes, every address, notes and fields, and says what stays behind")
  func proton() async throws {
    #expect(
      try await items(Self.proton) == [
        "Forum/ann": "pw", "Forum/ann#notes": "a note", "Forum/ann#totp": "otpauth://totp/a?secret=GEZDGNBV",
        "Forum/ann#totp 2": "otpauth://totp/b?secret=GEZDGNBV", "Forum/ann#PIN": "1234", "Mail/ann@mail.test": "m",
        "Card#cardholderName": "Ann", "Card#cardType": "0", "Card#number": "4111", "Own#Token": "t",
      ])
    #expect(
      try await attributes(Self.proton, of: "Forum/ann") == [
        "labl": .text("Forum"), "whorl.folder": .text("Personal"), "whorl.url": .text("https://forum.test/"),
        "whorl.url.2": .text("https://forum.example/"), "whorl.field.email": .text("ann@mail.test"),
      ])
    #expect(try read(Self.proton).unusable.map(\.called) == ["Forum", "Gone"])
  }

  /// As export.data of a 1PUX archive of 1Password 8, with invented contents.
  private static let onePassword = #"""
    {
      "accounts": [
        {
          "attrs": { "accountName": "Ann", "name": "Ann", "email": "ann@mail.test" },
          "vaults": [
            {
              "attrs": { "uuid": "v", "name": "Personal", "type": "P" },
              "items": [
                {
                  "uuid": "i", "favIndex": 0, "createdAt": 1, "updatedAt": 2, "state": "active", "categoryUuid": "001",
                  "details": {
                    "loginFields": [
                      { "value": "ann", "id": "", "name": "user", "fieldType": "T", "designation": "username" },
                      { "value": "pw", "id": "", "name": "pass", "fieldType": "P", "designation": "password" },
                      { "value": "on", "id": "", "name": "remember", "fieldType": "C", "designation": "" }
                    ],
                    "notesPlain": "a note",
                    "sections": [
                      {
                        "title": "More", "name": "s",
                        "fields": [
                          { "title": "one-time password", "id": "TOTP_1", "value": { "totp": "otpauth://totp/a?secret=GEZDGNBV" } },
                          { "title": "PIN", "id": "p", "value": { "concealed": "1234" } },
                          { "title": "", "id": "born", "value": { "date": 1700000000 } },
                          { "title": "mail", "id": "m", "value": { "email": { "email_address": "a@b.test", "provider": null } } }
                        ]
                      }
                    ],
                    "passwordHistory": [ { "value": "old", "time": 1 } ], "documentAttributes": null
                  },
                  "overview": {
                    "subtitle": "ann", "url": "https://forum.test", "title": "Forum", "tags": [ "a", "b" ],
                    "urls": [ { "label": "", "url": "https://forum.test" }, { "label": "m", "url": "https://m.forum.test" } ]
                  }
                },
                {
                  "state": "archived", "categoryUuid": "005", "details": { "password": "alone", "loginFields": [] },
                  "overview": { "title": "Only" }
                }
              ]
            }
          ]
        }
      ]
    }
    """#

  @Test("the JSON in an archive of 1Password keeps codes, every address, notes and fields")
  func onePassword() async throws {
    #expect(
      try await items(Self.onePassword) == [
        "Forum/ann": "pw", "Forum/ann#notes": "a note", "Forum/ann#totp": "otpauth://totp/a?secret=GEZDGNBV",
        "Forum/ann#remember": "on", "Forum/ann#PIN": "1234", "Forum/ann#born": "1700000000",
        "Forum/ann#mail email_address": "a@b.test", "Only": "alone",
      ])
    #expect(
      try await attributes(Self.onePassword, of: "Forum/ann") == [
        "labl": .text("Forum"), "whorl.folder": .text("Personal"), "whorl.url": .text("https://forum.test"),
        "whorl.url.2": .text("https://m.forum.test"), "whorl.field.tags": .text("a,b"),
      ])
  }

  @Test(
    "JSON that is encrypted, of another program, or no export at all is refused with what works",
    arguments: [
      (#"{"encrypted":true,"passwordProtected":true,"data":"2.x"}"#, "export it there as JSON without encryption"),
      (#"{"encrypted":true,"items":[]}"#, "encrypted export of Bitwarden"),
      (#"{"version":1,"header":{"slots":[]},"db":"AAAA"}"#, "--from aegis reads it"),
      (#"{"AUTHENTIFIANT":[]}"#, "JSON of Dashlane: export it there as CSV"),
      (#"{"folders":[]}"#, "no JSON of Bitwarden, Proton Pass or 1Password"), ("[]", "no JSON of Bitwarden"),
      (#"{"items":[]}"#, "no entry"), (#"{"items":[{"name":"a"}"#, "it is no JSON"), ("", "it is no JSON"),
    ])
  func refused(_ text: String, _ words: String) {
    #expect {
      _ = try read(text)
    } throws: {
      if case ImportError.malformed(let why)? = $0 as? ImportError { why.contains(words) } else { false }
    }
  }

  @Test("JSON that is too deep, or has too many values or fields, is refused", .timeLimit(.minutes(1)))
  func bounds() throws {
    for (text, words) in [
      (String(repeating: #"{"items":["#, count: 100_000), "nested too deep"),
      (#"{"items":[\#(String(repeating: "0,", count: 2_000_000))0]}"#, "more than 2000000 values"),
    ] {
      #expect {
        _ = try read(text)
      } throws: {
        if case ImportError.malformed(let why)? = $0 as? ImportError { why.contains(words) } else { false }
      }
    }
    let addresses = (0...1_000).map { #"{"uri":"https://\#($0).test"}"# }.joined(separator: ",")
    let long = try read(#"{"items":[{"name":"a","login":{"password":"p","uris":[\#(addresses)]}}]}"#)
    #expect(long.unusable == [UnusableEntry("a", .source("has more than 1000 fields"))] && long.entries.isEmpty)
  }

  @Test("members of another kind than a program writes are taken for missing")
  func otherKinds() async throws {
    #expect(
      try await items(
        #"{"items":[{"name":"a","login":{"password":["p"],"uris":"x","totp":{"a":1}},"fields":{},"notes":7},7,null]}"#)
        == ["a#notes": "7"])
  }
}
