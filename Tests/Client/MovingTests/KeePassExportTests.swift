import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

@Suite("XML exports of KeePassXC")
struct KeePassExportTests {
  /// As `keepassxc-cli export -f xml` writes it.
  private static let export = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <KeePassFile>
     <Meta><Generator>KeePassXC</Generator><RecycleBinUUID>bin==</RecycleBinUUID></Meta>
     <Root><Group><UUID>root==</UUID><Name>Root</Name>
      <Entry><UUID>e==</UUID>
       <String><Key>Notes</Key><Value>line 1
    line 2 &amp; more</Value></String>
       <String><Key>Password</Key><Value ProtectInMemory="True">p&lt;w</Value></String>
       <String><Key>Title</Key><Value>Mail</Value></String>
       <String><Key>URL</Key><Value>https://mail.example</Value></String>
       <String><Key>UserName</Key><Value ProtectInMemory="True">alice</Value></String>
       <String><Key>otp</Key><Value ProtectInMemory="True">otpauth://totp/x</Value></String>
       <String><Key>PIN</Key><Value ProtectInMemory="True">1234</Value></String>
       <String><Key>Branch</Key><Value>Main</Value></String>
       <String><Key>TimeOtp-Secret-Base32</Key><Value>ABC</Value></String>
       <Tags>bank;home</Tags>
       <Binary><Key>file</Key><Value Ref="0"/></Binary>
       <History><Entry>
        <String><Key>Title</Key><Value>Old</Value></String><String><Key>Password</Key><Value>old</Value></String>
       </Entry></History>
      </Entry>
      <Group><UUID>bin==</UUID><Name>Recycle Bin</Name><Group><UUID>in==</UUID><Name>In it</Name><Entry>
       <String><Key>Title</Key><Value>Gone</Value></String><String><Key>Password</Key><Value>gone</Value></String>
      </Entry></Group></Group>
      <Group><UUID>g==</UUID><Name>Work</Name><Group><UUID>h==</UUID><Name>Inner</Name><Entry>
       <String><Key>Title</Key><Value>Forge</Value></String><String><Key>Password</Key><Value>f</Value></String>
      </Entry></Group></Group>
     </Group></Root>
    </KeePassFile>
    """

  private func read(_ text: String) throws -> ReadEntries { try KeePassExport.read(SecretBytes(text: text)) }

  @Test(
    "a seed of one-time codes in fields of KeePass or its plugin becomes an address, and one that is not understood stays",
    arguments: [
      (["TOTP Seed": "gezd gnbv=", "TOTP Settings": "60;8"], "totp", "gezdgnbv&algorithm=SHA1&digits=8&period=60"),
      (["TOTP Seed": "GEZDGNBV"], "totp", "GEZDGNBV&algorithm=SHA1&digits=6&period=30"),
      (["TOTP Seed": "GEZDGNBV", "TOTP Settings": "30;S"], "TOTP Seed", nil),
      (["TOTP Seed": "not base32!"], "TOTP Seed", nil),
      (
        [
          "TimeOtp-Secret-Base32": "GEZDGNBV", "TimeOtp-Algorithm": "HMAC-SHA-512", "TimeOtp-Length": "8",
          "TimeOtp-Period": "60",
        ], "totp", "GEZDGNBV&algorithm=SHA512&digits=8&period=60"
      ),
      (["TimeOtp-Secret-Base32": "GEZDGNBV"], "totp", "GEZDGNBV&algorithm=SHA1&digits=6&period=30"),
      (["TimeOtp-Secret-Base32": "GEZDGNBV", "TimeOtp-Length": "100"], "TimeOtp-Secret-Base32", nil),
      (["TimeOtp-Secret-Base32": "GEZDGNBV", "TimeOtp-Algorithm": "MD5"], "TimeOtp-Secret-Base32", nil),
      (["otp": "otpauth://totp/x", "TOTP Seed": "GEZDGNBV"], "TOTP Seed", nil),
    ] as [([String: String], String, String?)])
  func seeds(_ fields: [String: String], _ label: String, _ query: String?) async throws {
    let strings = fields.sorted { $0.key < $1.key }.map {
      "<String><Key>\($0.key)</Key><Value>\($0.value)</Value></String>"
    }
    let read = try read(
      "<KeePassFile><Root><Group><Entry><String><Key>Title</Key><Value>T</Value></String>\(strings.joined())"
        + "</Entry></Group></Root></KeePassFile>")
    var items: [String: String] = [:]
    for item in try await read.items(of: read.entries[0]) { items[item.name.description] = item.secret.text }
    let seed = fields["TOTP Seed"] ?? fields["TimeOtp-Secret-Base32"]
    #expect(items["T#\(label)"] == query.map { "otpauth://totp/?secret=\($0)" } ?? seed)
    #expect(items.count == (fields["otp"] == nil ? 1 : 2))
  }

  @Test("entries of a KeePassXC export are read with their fields, without history and recycle bin")
  func entries() async throws {
    let read = try read(Self.export)
    var items: [String: String] = [:]
    var attributes: [String: [String]] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) {
        items[item.name.description] = item.secret.text
        attributes[item.name.description] = item.attributes.map { "\($0.key.rawValue)=\($0.value)" }.sorted()
      }
    }
    #expect(
      items == [
        "Mail/alice": "p<w", "Mail/alice#notes": "line 1\nline 2 & more", "Mail/alice#totp": "otpauth://totp/x",
        "Mail/alice#PIN": "1234", "Mail/alice#TimeOtp-Secret-Base32": "ABC", "Forge": "f",
      ])
    #expect(
      attributes["Mail/alice"] == [
        #"labl=text("Mail")"#, #"whorl.field.Branch=text("Main")"#, #"whorl.field.Tags=text("bank;home")"#,
        #"whorl.url=text("https://mail.example")"#,
      ])
    #expect(attributes["Forge"] == [#"labl=text("Forge")"#, #"whorl.folder=text("Work/Inner")"#])
    #expect(
      read.unusable == [
        UnusableEntry("Mail", .source("has attachments, which stay behind")),
        UnusableEntry("Gone", .source("is in the recycle bin")),
      ])
    #expect(
      read.leftOut == [
        "of every entry, its icon, its times and how KeePass types it", "the earlier states of 1 entry",
      ])
  }

  @Test("further addresses of a KeePassXC entry are kept after its own, unless they are secret")
  func addresses() async throws {
    let entries = [
      entry(
        1,
        [
          "Title": "Own", "Password": "p", "KP2A_URL": "https://b.test", "URL": "https://a.test",
          "KP2A_URL_1": "https://c.test",
        ]),
      entry(2, ["Title": "Clone", "Password": "q", "KP2A_URL": reference("A", 1)]),
    ]
    let secret = #"<String><Key>KP2A_URL_2</Key><Value ProtectInMemory="True">https://d.test</Value></String></Entry>"#
    let read = try read(
      "<KeePassFile><Root><Group>\(entries.joined().replacing("</Entry><Entry>", with: secret + "<Entry>"))</Group></Root>"
        + "</KeePassFile>")
    var found: [String: Set<String>] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) {
        let addresses = item.attributes.filter { $0.key.rawValue.hasPrefix("whorl.url") }
        found[item.name.description] = Set(
          addresses.map { if case .text(let text) = $0.value { text } else { "" } })
        if item.name.description == "Own" {
          #expect(item.attributes[AttributeName(rawValue: "whorl.url")] == .text("https://a.test"))
        }
      }
    }
    #expect(found["Own"] == ["https://a.test", "https://b.test", "https://c.test"])
    #expect(found["Clone"] == ["https://a.test"])
    #expect(found["Own#KP2A_URL_2"] == [])
  }

  /// An entry with fields that may refer to others.
  private func entry(_ number: Int, _ fields: [String: String]) -> String {
    // The identifier is 15 zero bytes and the number.
    let strings = fields.map { "<String><Key>\($0)</Key><Value>\($1)</Value></String>" }.joined()
    return "<Entry><UUID>AAAAAAAAAAAAAAAAAAAA\(["AA", "AQ", "Ag", "Aw", "BA"][number])==</UUID>\(strings)</Entry>"
  }

  private func reference(_ field: String, _ number: Int) -> String {
    "{REF:\(field)@I:\(String(repeating: "0", count: 31))\(number)}"
  }

  @Test("a KeePass reference becomes the other entry's field, also through a second; a broken one is reported")
  func references() async throws {
    let entries = [
      entry(1, ["Title": "Own", "UserName": "ann", "Password": "the password", "Notes": "a note"]),
      entry(
        2,
        [
          "Title": "Clone", "UserName": reference("U", 1), "Password": reference("P", 1),
          "Notes": reference("N", 1).lowercased(), "Site": reference("T", 1),
        ]),
      entry(3, ["Title": "Second", "Password": reference("P", 2)]),
      entry(4, ["Title": "Itself", "Password": reference("P", 4)]),
      entry(0, ["Title": "Lost", "Password": reference("P", 9)]),
      entry(0, ["Title": "Within", "Password": "x\(reference("P", 1))"]),
      entry(0, ["Title": "Search", "Password": "{REF:P@T:Own}"]),
    ]
    let read = try read("<KeePassFile><Root><Group>\(entries.joined())</Group></Root></KeePassFile>")
    var items: [String: String] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
    }
    #expect(
      items == [
        "Own/ann": "the password", "Own/ann#notes": "a note", "Clone/ann": "the password", "Clone/ann#notes": "a note",
        "Second": "the password",
      ])
    let elsewhere = "refers to another entry in a way that is not read here"
    #expect(
      read.unusable == [
        UnusableEntry("Itself", .field("password", elsewhere)),
        UnusableEntry("Lost", .field("password", "refers to another entry, which is not in the file")),
        UnusableEntry("Within", .field("password", elsewhere)), UnusableEntry("Search", .field("password", elsewhere)),
      ])
  }

  @Test(
    "a file that is no XML export of KeePassXC is refused, with the line number",
    arguments: [
      ("<a/>", "line 1: it is no export of KeePassXC: it begins with a"),
      ("<!DOCTYPE a [<!ENTITY b \"c\">]>\n<KeePassFile/>", "line 1: it declares a document type, which no export does"),
      ("<KeePassFile>\n<Root>", "line 2: no element found"),
      ("<KeePassFile>" + String(repeating: "<a>", count: 100), "line 1: its elements are nested too deep"),
      (
        "<KeePassFile><Root><Group><Entry><String><Key>Password</Key><Value Protected=\"True\">QUJD</Value></String>",
        "line 1: its values are encrypted: export it from KeePassXC itself"
      ),
    ])
  func refused(file: String, why: String) throws {
    #expect(throws: ImportError.malformed(why)) { try read(file) }
  }

  @Test("a KeePass entry without a password, and fields called like its own notes, keep their names")
  func names() async throws {
    func entry(_ fields: [(String, String)]) -> String {
      let strings = fields.map {
        "<String><Key>\($0.0)</Key><Value ProtectInMemory=\"True\">\($0.1)</Value></String>"
      }
      return "<Entry>\(strings.joined())</Entry>"
    }
    let entries = [
      entry([("Title", "A"), ("Password", ""), ("Notes", "n"), ("PIN", "1")]),
      entry([("Title", "B"), ("Password", "p"), ("Notes", ""), ("notes", "m"), ("totp", "t")]),
      entry([("Title", "C"), ("notes", "m"), ("Notes", "n"), ("two\nlines", "x")]),
    ]
    let read = try read("<KeePassFile><Root><Group>\(entries.joined())</Group></Root></KeePassFile>")
    var items: [String: String] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
    }
    #expect(
      items == [
        "A#notes": "n", "A#PIN": "1", "B": "p", "B#notes 2": "m", "B#totp 2": "t", "C#notes 2": "m", "C#notes": "n",
        "C#two lines": "x",
      ])
    #expect(read.unusable.isEmpty)
  }

  @Test("notes of a KeePass group are reported, and a file without entries is refused")
  func groups() throws {
    let entry =
      "<Entry><String><Key>Title</Key><Value>A</Value></String><String><Key>Password</Key><Value>p</Value></String></Entry>"
    let read = try read("<KeePassFile><Root><Group><Name>G</Name><Notes>n</Notes>\(entry)</Group></Root></KeePassFile>")
    #expect(read.unusable == [UnusableEntry("notes of groups", .source("belong to no entry: copy them by hand"))])
    #expect(throws: ImportError.malformed("there is no entry in it")) {
      try self.read("<KeePassFile><Root><Group><Notes/></Group></Root></KeePassFile>")
    }
  }

  @Test("an XML export with too many entries or fields, or with a huge name, is refused", .timeLimit(.minutes(1)))
  func bounds() throws {
    func file(_ text: String) -> String { "<KeePassFile><Root><Group>\(text)</Group></Root></KeePassFile>" }
    func field(_ name: String, _ value: String) -> String {
      "<String><Key>\(name)</Key><Value>\(value)</Value></String>"
    }
    let cases = [
      (
        String(repeating: "<Entry/>", count: 100_001),
        "it has more than 100000 entries: export its groups one after the other"
      ),
      (
        "<Entry>" + (0...1_000).map { field("f\($0)", "x") }.joined() + "</Entry>", "an entry has more than 1000 fields"
      ),
      (
        String(repeating: "<Group><Name>\(String(repeating: "x", count: 200))</Name>", count: 30),
        "the names of groups within each other have more than 4096 bytes"
      ),
    ]
    for (text, why) in cases {
      #expect(throws: ImportError.malformed("line 1: \(why)")) { try read(file(text)) }
    }
    // Many entries that refer to one long text.
    let long = String(repeating: "x", count: 1 << 16)
    let clones = String(
      repeating: "<Entry>\(field("Title", reference("T", 1)))\(field("Notes", reference("P", 1)))</Entry>",
      count: 5_000)
    let clonesRead = try read(file(entry(1, ["Title": long, "Password": long]) + clones))
    #expect(clonesRead.unusable.count == 5_001)
    #expect(clonesRead.unusable.last?.reason == .refused(.invalidName("the service is longer than 255 bytes")))
  }
}
