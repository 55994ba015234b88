import Foundation
import Primitives
import SecretModel
import Testing

@testable import Moving

@Suite("Files of passkeys")
struct PasskeyFileTests {
  private static let p256 =
    "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgowqMmqmbrwqUvdors5M_NaohCSI-59y7Vmbtet7nGCKhRANCAASU7X1Z66XU2gYzuQEE1Tdw0AXtg-_oDDBHpjOKQe0GNpRxMtaMUdzxe52hZBSuslUoY4mtj9C1a7KZk5a6ZD-7"
  private static let ed25519 = "MC4CAQAwBQYDK2VwBCIEIG36EZkFL7Wb7TMyhIC7rmUqOiAeND6UPvaEMCZWbRqp"
  private static let p384 =
    "MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDCbNw2py2oKoFYsRcb0eYx1PEx7A-0U2pqyG3gSJRHqg5YyLmbvnK6DX9VGVmMM42-hZANiAATdQPhDUsks0g09jdFYNJreJXsMYirdgC5EymkWOldAmCKBJpM96DU9Yx7P0EOq9g0vBivva8FDBERw_2qg3pGoB8sy2PUCUiHqr7Kfj2Zp4Xnevb_fxYRMjBKw7kyS1fk"

  private static let members = [
    ("type", #""passkey""#), ("credentialId", #""AQID""#), ("rpId", #""example.com""#), ("username", #""alice""#),
    ("userDisplayName", #""Alice""#), ("userHandle", #""BAU""#), ("key", "\"\(p256)\""),
  ]

  private static func exchange(
    _ members: [(String, String)] = members, version: String = #"{"major":1,"minor":0}"#, more: String = ""
  ) -> String {
    let passkey = members.map { "\"\($0.0)\" : \($0.1)" }.joined(separator: ",\n")
    return """
      {"version":\(version),"exporterRpId":"other.example","exporterDisplayName":"Other","timestamp":1,
       "accounts":[{"id":"AA","username":"","email":"","collections":[],"items":[
       {"id":"AQ","title":"Example","credentials":[{\(passkey)}\(more)]}]}]}
      """
  }

  /// Base64 in the usual alphabet.
  private static func usual(_ text: String) -> String {
    let usual = text.replacing("-", with: "+").replacing("_", with: "/")
    return usual + String(repeating: "=", count: (4 - usual.count % 4) % 4)
  }

  /// Base64 in the alphabet for addresses.
  private static func base64(_ data: Data) -> String {
    data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  private static func keepassxc(_ key: String = p256, leaving member: String = "") -> String {
    // KeePassXC writes base64 in lines.
    let padded = usual(key)
    var lines: [Substring] = []
    var rest = padded[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(64))
      rest = rest.dropFirst(64)
    }
    let pem = #"-----BEGIN PRIVATE KEY-----\n"# + lines.joined(separator: #"\n"#) + #"\n-----END PRIVATE KEY-----\n"#
    let members = [
      ("credentialId", "AQID"), ("privateKey", pem), ("relyingParty", "example.com"),
      ("url", #"https:\/\/example.com"#), ("userHandle", "BAU"), ("username", "alice"),
    ]
    return "{" + members.filter { $0.0 != member }.map { "\"\($0.0)\": \"\($0.1)\"" }.joined(separator: ",") + "}"
  }

  private static func read(_ text: String) throws -> PasskeyFile {
    try PasskeyFile(SharedSecret(SecretBytes(copying: Array(text.utf8).span)))
  }

  @Test("passkeys in the Credential Exchange Format are read with each kind of key, and other entries are counted")
  func exchange() throws {
    let other = #","# + #"{"type":"basic-auth","password":{"value":"secret \"quoted\" \u0041"}}"#
    let file = try Self.read(Self.exchange(more: other))
    #expect(file.count == 1 && file.others == 1)
    var members = Self.members
    members[6].1 = "\"\(Self.ed25519)\""
    members.append(
      (
        "fido2Extensions",
        #"{"hmacCredentials":{"algorithm":"hmac-sha256","credWithUV":"\#(String(repeating: "A", count: 43))","#
          + #""credWithoutUV":"AA"},"credBlob":"AQ"}"#
      ))
    let entry = try #require(try Self.read(Self.exchange(members)).entries.first)
    #expect(entry.attributes[.secretExtension] == .number(1) && entry.attributes[.credentialBlob] == .bytes([1]))
    #expect(!entry.isPartial)
    #expect(try Self.read(Self.exchange(version: #"{"major":1,"minor":7}"#)).count == 1)
    #expect(try Self.read(Self.exchange()).entries.first?.attributes[.secretExtension] == .number(0))
  }

  /// The passkey in the example of FIDO's Credential Exchange Format 1.0 (appendix A).
  private static let published = """
    {"type":"passkey","credentialId":"Y3JlZGVudGlhbElkRXhhbXBsZQ","rpId":"webauthn.io","username":"johndoe",
     "userDisplayName":"John Doe","userHandle":"cnEzaNHWcYK3coWZjvoaV1Hj9gnI12mKe2dL2HZVFlY",
     "key":"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgARu_0sCt20EpgVxb4Puq3Ga5VVLpuTY75ngvZlyq3X6hRANCAASmdk1xLsK0oOlhxIPp0d1ZuS0sT9nf6BZtSelhqvLBW0fOL33l_bXgsr_STUHjCLn8l6gcRJwe7OQvbQubZ1dY",
     "fido2Extensions":{"hmacCredentials":{"algorithm":"hmac-sha256",
      "credWithUV":"j3N5T9qLpWz2rYf4vS6lDn1KpQx8E0fRc2a7Bm5nUsw",
      "credWithoutUV":"y2R8tL3eWf5qBz0sK4hHn9rVgX7pD1cQm6uTj2aP8Fs"},
      "credBlob":"eyJ1c2VyTmFtZSI6ICJKb2huIERvZSIsICJ1c2VySWQiOiAiamRvZS0wMDEiLCAiZW1haWwiOiAiamRvZUBleGFtcGxlLmNvbSJ9",
      "largeBlob":{"uncompressedSize":129,"data":"HYxBCoUwDESvMgcQT-Hqr71ATIMtlKQkkY-3twrDLIb3Zq8tMEMKUfZ7pBR08lNwdDtAEcaN3vXfsuJnVbGZrNhf82PYrl5ma1JTXCGOQkkLaAxETnmBOb53O51GbYwQdslYHw"},
      "payments":true}}
    """

  @Test("the Credential Exchange Format's example passkey is read, and counted as one that loses its site's data")
  func example() throws {
    let file = try Self.read(
      #"{"version":{"major":1,"minor":0},"exporterRpId":"exporter.example.com","exporterDisplayName":"Exporter app","#
        + #""timestamp":1705228800,"accounts":[{"id":"DZSXp7iBQY-Fg-OofakQtQ","username":"jane_smith","#
        + #""email":"jane.smith@example.com","fullName":"Jane Smith","items":[{"id":"akKA3Y0jQRuK7sKplB0Y9w","#
        + #""creationAt":1705142400,"modifiedAt":1705228800,"title":"WebAuthn.io","subtitle":"johndoe","credentials":["#
        + Self.published + "]}]}]}")
    #expect(file.count == 1 && file.others == 0 && file.partial == 1)
    #expect(file.entries[0].attributes[.credentialBlob] == .bytes([]), "too much to keep")
    #expect(try Self.read(Self.exchange()).partial == 0)
    let long = String(repeating: "A", count: 44)
    for extensions in [#"{"largeBlob":{"uncompressedSize":1,"data":"AA"}}"#, #"{"credBlob":"\#(long)"}"#] {
      #expect(try Self.read(Self.exchange(Self.members + [("fido2Extensions", extensions)])).partial == 1)
    }
  }

  @Test("a passkey file of KeePassXC is read")
  func keepassxc() throws {
    #expect(try Self.read(Self.keepassxc()).count == 1)
    #expect(try Self.read(Self.keepassxc(Self.ed25519)).count == 1)
  }

  @Test("an imported passkey is refused if any member is missing or of another type", arguments: 0..<7)
  func members(_ place: Int) {
    var missing = Self.members
    missing.remove(at: place)
    for text in [missing]
      + ["7", "null", "{}", "[]", "true"].map({ value in
        var members = Self.members
        members[place].1 = value
        return members
      })
    {
      #expect(throws: ImportError.self) { try Self.read(Self.exchange(text)) }
    }
  }

  @Test("a passkey's invalid key or identifier is refused in one line without its bytes")
  func values() throws {
    func refusal(_ name: String, _ value: String) -> ImportError? {
      var members = Self.members
      members[members.firstIndex { $0.0 == name } ?? 0].1 = value
      do {
        _ = try Self.read(Self.exchange(members))
        return nil
      } catch { return error as? ImportError }
    }
    // A length in four bytes, which no key needs.
    let p256 = try #require(Data(base64Encoded: Self.usual(Self.p256)))
    let longForm = Data([0x30, 0x83, 0, 0, 0x87]) + p256.dropFirst(3)
    for (name, value) in [
      ("key", "\"\(Self.p384)\""), ("key", #""""#), ("key", #""AAAA""#), ("key", #""a b""#), ("key", #""\u0041""#),
      ("key", "\"\\\(Self.p256)\""),
      ("key", #""@0""#), ("key", "\"N\(Self.p256.dropFirst())\""), ("key", "\"\(Self.base64(longForm))\""),
      ("credentialId", #""""#), ("credentialId", #""***""#), ("userHandle", #""Z""#),
    ] {
      #expect(refusal(name, value) == .malformed("its passkey 1 has a \"\(name)\" that is not valid"))
    }
  }

  @Test("a passkey's invalid hmac-secret keys and credBlob are refused")
  func extensions() {
    func read(_ algorithm: String, _ key: String, _ blob: String) throws -> Int {
      var members = Self.members
      members.append(
        (
          "fido2Extensions",
          #"{"hmacCredentials":{"algorithm":"\#(algorithm)","credWithUV":"\#(key)","credWithoutUV":""},"credBlob":"\#(blob)"}"#
        ))
      return try Self.read(Self.exchange(members)).count
    }
    let (key, blob) = (String(repeating: "A", count: 43), String(repeating: "A", count: 43))
    #expect(throws: Never.self) { try read("hmac-sha256", key, blob) }
    for (algorithm, key, blob) in [
      ("hmac-sha512", key, blob), ("hmac-sha256", "AAAA", blob), ("hmac-sha256", key + "AA", blob),
      ("hmac-sha256", key, "Z"),
    ] { #expect(throws: ImportError.self) { try read(algorithm, key, blob) } }
  }

  @Test("every member of a KeePassXC passkey file but the address is required")
  func keepassxcMembers() throws {
    for member in ["credentialId", "privateKey", "relyingParty", "userHandle", "username"] {
      #expect(throws: ImportError.self) { try Self.read(Self.keepassxc(leaving: member)) }
    }
    #expect(try Self.read(Self.keepassxc(leaving: "url")).count == 1)
    #expect(throws: ImportError.self) { try Self.read(Self.keepassxc(Self.p384)) }
    for (part, other) in [
      ("BEGIN PRIVATE KEY", "BEGIN ENCRYPTED PRIVATE KEY"), ("BEGIN PRIVATE KEY", "BEGIN PRIVATE KEX"),
      ("END PRIVATE KEY", "END PRIVATE KEX"), ("\"AQID\"", "\"\""),
    ] {
      #expect(throws: ImportError.self) { try Self.read(Self.keepassxc().replacing(part, with: other)) }
    }
    #expect(try Self.read(Self.keepassxc().replacing("-----BEGIN", with: #"\n -----BEGIN"#)).count == 1)
  }

  @Test("text that is no passkey file and truncated passkey files are refused")
  func others() throws {
    for text in [
      "", "{", "{}", "[]", "null", "hello", #"{"version":{"major":2,"minor":0},"accounts":[]}"#,
      #"{"version":{"major":1},"accounts":7}"#, #"{"accounts":[]}"#, #"{"version":1,"accounts":[]}"#,
      String(repeating: "[", count: 100_000), "\"",
    ] {
      #expect(throws: ImportError.self) { try Self.read(text) }
    }
    let whole = Self.exchange()
    for end in stride(from: 0, to: whole.count - 1, by: 7) {
      #expect(throws: ImportError.self) { try Self.read(String(whole.prefix(end))) }
    }
  }

  @Test("only strings of a passkey file that are known to be public reach the JSON decoder")
  func open() throws {
    func opened(_ text: String) -> String {
      let secret = SharedSecret(SecretBytes(copying: Array(text.utf8).span))
      return String(decoding: OpenText(secret, open: ["open"]).bytes, as: UTF8.self)
    }
    #expect(
      opened(#"{"open":{"a":["s"]},"open":["t"],"open" : "u","x":"v"}"#)
        == #"{"open":{"a":["@0"]},"open":["@1"],"open" : "u","x":"@2"}"#)
    #expect(opened(#"{"open":"u" "v"}"#) == #"{"open":"u" "@0"}"#, "no JSON, and no secret is shown")
    #expect(opened(#"{"open":1,"x":"open\"","y":"v"}"#) == #"{"open":1,"x":"@0","y":"@1"}"#)
  }

  @Test("a placeholder without a secret in the passkey file gives none, and a malformed placeholder is refused")
  func marks() throws {
    func text(_ text: String) -> OpenText {
      OpenText(SharedSecret(SecretBytes(copying: Array(text.utf8).span)), open: [])
    }
    let two = text(#"["a","b"]"#)
    let marks = try JSONDecoder().decode([OpenText.Mark].self, from: Data(two.bytes))
    #expect(two.secret(marks[1])?.bytes.count == 1)
    #expect(text(#"["a"]"#).secret(marks[1]) == nil)
    for wrong in [#"["x"]"#, #"["@x"]"#, #"["11"]"#] {
      #expect(throws: (any Error).self) { try JSONDecoder().decode([OpenText.Mark].self, from: Data(wrong.utf8)) }
    }
  }

  @Test("a file of passkeys that is nested deep or has very many members is refused at once", .timeLimit(.minutes(1)))
  func bounds() {
    let deep = "{\"version\":{\"major\":1},\"accounts\":" + String(repeating: "[", count: 1 << 20)
    let wide = "{" + String(repeating: "\"a\":\"b\",", count: 200_000) + "\"c\":1}"
    for text in [deep, wide] {
      #expect(throws: ImportError.self) { try PasskeyFile(SharedSecret(SecretBytes(copying: Array(text.utf8).span))) }
    }
  }
}
