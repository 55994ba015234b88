import Foundation
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("Exports of Aegis")
struct AegisTests {
  /// As Aegis 3 writes it, with invented contents.
  private static let export = #"""
    {
        "version": 1,
        "header": { "slots": null, "params": null },
        "db": {
            "version": 3,
            "entries": [
                {
                    "type": "totp", "uuid": "3ae6f1ad-2e65-4ed2-a953-1ec0dff2386d", "name": "ann", "issuer": "Forum",
                    "note": "two\nlines \"\u00fc\" \ud83d\ude00 \\", "favorite": false, "icon": null,
                    "info": { "secret": "GEZDGNBVGY3TQOJQ", "algo": "SHA256", "digits": 8, "period": 60 }, "groups": []
                },
                {
                    "type": "totp", "name": "b\u00e9a", "issuer": "", "note": "", "icon": null,
                    "info": { "secret": "GEZDGNBV", "algo": "SHA1", "digits": 6, "period": 30 }
                },
                { "type": "hotp", "name": "c", "issuer": "Bank",
                  "info": { "secret": "GEZDGNBV", "algo": "SHA1", "digits": 6, "counter": 3 } },
                { "type": "steam", "name": "d", "issuer": "Steam",
                  "info": { "secret": "GEZDGNBV", "algo": "SHA1", "digits": 5, "period": 30 } },
                { "type": "totp", "name": "e", "issuer": "MD5",
                  "info": { "secret": "GEZDGNBV", "algo": "MD5", "digits": 6, "period": 30 } }
            ],
            "groups": [ { "uuid": "x", "name": "Home" } ]
        }
    }
    """#

  private func read(_ text: String) throws -> ReadEntries {
    try AegisExport.read(SharedSecret(SecretBytes(text: text)))
  }

  @Test("each code of the time in an export of Aegis becomes an address beside the password of its entry")
  func reads() async throws {
    let read = try read(Self.export)
    var items: [String: String] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
    }
    #expect(
      items == [
        "Forum/ann#totp": "otpauth://totp/?secret=GEZDGNBVGY3TQOJQ&algorithm=SHA256&digits=8&period=60",
        "Forum/ann#notes": "two\nlines \"ü\" 😀 \\",
        "béa#totp": "otpauth://totp/?secret=GEZDGNBV&algorithm=SHA1&digits=6&period=30",
      ])
    #expect(read.unusable.map(\.called) == ["Bank", "Steam", "MD5"])
  }

  @Test(
    "an encrypted export of Aegis, and a file that is none, are refused",
    arguments: [
      (#"{"version":1,"header":{"slots":[{"type":1}]},"db":"AAAA"}"#, "encrypted"),
      (#"{"encrypted":false,"items":[]}"#, "no export of Aegis"), ("[]", "no export of Aegis"),
      ("", "no export of Aegis"),
      (#"{"db":{"entries":[]}}"#, "no entry"), (#"{"db":{"entries":[{"type":"totp"}]}}"#, "no export of Aegis"),
    ])
  func refused(_ text: String, _ words: String) {
    #expect {
      _ = try read(text)
    } throws: {
      if case ImportError.malformed(let why)? = $0 as? ImportError { why.contains(words) } else { false }
    }
  }

  @Test(
    "an escape that JSON does not have, and half of a character, add nothing to a secret",
    arguments: [
      (#"\x"#, #"\"#), (#"\u12"#, #"\12"#), (#"\ud83d"#, #"\d83d"#), (#"\ud83dx\ude00"#, #"\d83dx\de00"#),
      (#"\ud83d\u0041"#, #"\d83dA"#), (#"\t\b\f\/\"\\"#, "\t\u{8}\u{C}/\"\\"), (#"\u0041\u00fc\u20ac"#, "Aü€"),
    ])
  func escapes(_ written: String, _ read: String) throws {
    let text = OpenText(SharedSecret(SecretBytes(text: "[\"\(written)\"]")), open: [])
    let mark = try JSONDecoder().decode([OpenText.Mark].self, from: Data(text.bytes))[0]
    #expect(text.secret(mark)?.bytes.text == read)
  }
}
