import Glibc
import Primitives
import ProgramDriver
import Testing
import VaultDriver

@testable import Moving

@Suite("Text encodings of imported files")
struct FileTextTests {
  private static let text = "title,password\nForum,pä€𝄞w\n"

  private func units(_ text: String, mark: Bool, bigEndian: Bool) -> [UInt8] {
    ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit in
      let bytes = [UInt8(unit & 0xFF), UInt8(unit >> 8)]
      return bigEndian ? bytes.reversed() : bytes
    }
  }

  private func read(_ bytes: [UInt8], _ body: (String) throws(ImportError) -> ReadEntries) async throws -> [String] {
    try await withFolder { folder in
      try writeFile("\(folder)/file", bytes)
      let read = try body("\(folder)/file")
      var items: [String] = []
      for entry in read.entries { items += try await read.items(of: entry).map { "\($0.name)=\($0.secret.text)" } }
      return items
    }
  }

  @Test("an imported UTF-16 file is read in both byte orders, marked or not", arguments: [true, false], [true, false])
  func utf16(mark: Bool, bigEndian: Bool) async throws {
    let csv = units(Self.text, mark: mark, bigEndian: bigEndian)
    #expect(try await read(csv, EntryFile.csv) == ["Forum=pä€𝄞w"])
    let xml = """
      <?xml version="1.0" encoding="UTF-16"?><KeePassFile><Root><Group><Entry>\
      <String><Key>Title</Key><Value>Forum</Value></String>\
      <String><Key>Password</Key><Value>pä€𝄞w</Value></String></Entry></Group></Root></KeePassFile>
      """
    #expect(try await read(units(xml, mark: mark, bigEndian: bigEndian), EntryFile.keepassxc) == ["Forum=pä€𝄞w"])
  }

  @Test("a folder in place of a file to import is named as one, and only a file that stays is said to be there")
  func places() async throws {
    try await withFolder { folder in
      #expect(throws: ImportError.malformed("\(folder) is a folder: name the file in it")) { try EntryFile.csv(folder) }
      try writeFile("\(folder)/list.csv", Array(Self.text.utf8))
      try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
      let file = open("\(folder)/list.csv", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      #expect(EntryFile.isKept("\(folder)/list.csv"))
      for path in ["-", "\(folder)/none", "\(folder)/pipe", "/dev/fd/\(file)", "/proc/self/fd/\(file)"] {
        #expect(!EntryFile.isKept(path), "\(path)")
      }
      for path in ["\(folder)/pipe", "/dev/zero"] { #expect(EntryFile.isPipeOrDevice(path), "\(path)") }
      for path in ["\(folder)/list.csv", folder, "\(folder)/none"] {
        #expect(!EntryFile.isPipeOrDevice(path), "\(path)")
      }
    }
  }

  @Test("a file of another kind in place of an export of Aegis is told what it is, and JSON is read as Aegis's")
  func notOfAegis() async throws {
    let archive: [UInt8] = Array("PK\u{3}\u{4}".utf8) + [0, 0] + Array("Proton Pass/data.json".utf8) + [0]
    let foreign: [([UInt8], String)] = [
      (archive, "it is a ZIP archive of Proton Pass: unpack it, and import its data.json, which --from json reads"),
      (Array("SQLite format 3\u{0}".utf8), "it is a database: have its program export it as CSV"),
    ]
    for (bytes, words) in foreign {
      await #expect(throws: ImportError.malformed(words)) { try await read(bytes, EntryFile.aegis) }
    }
    let entry = #"{"type":"totp","name":"a","info":{"secret":"GEZDGNBV","algo":"SHA1","digits":6,"period":30}}"#
    let export = " {\"header\":{\"slots\":null},\"db\":{\"entries\":[\(entry)]}}"
    #expect(try await read(Array(export.utf8), EntryFile.aegis).count == 1)
  }

  @Test("an imported CSV file with broken text or binary contents is refused with the reason")
  func refused() async throws {
    var cut = units(Self.text, mark: true, bigEndian: false)
    cut.removeLast()
    var lone = units("title,password\n", mark: true, bigEndian: false)
    lone += [0x00, 0xD8, 0x41, 0x00]
    let cases: [([UInt8], String)] = [
      (cut, "is not in UTF-16 as the lines before it are"), (lone, "line 2 is not in UTF-16"),
      ([0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "it is in UTF-32"),
      ([0x03, 0xD9, 0xA2, 0x9A, 1], "it is a database of KeePass"),
      (Array("PWS3abc".utf8), "it is a database of Password Safe"), (Array("PK\u{3}\u{4}".utf8), "it is a ZIP archive"),
      (Array("age-encryption.org/v1\n".utf8), "it is encrypted by age"),
      (Array("\r\n-----BEGIN AGE ENCRYPTED FILE-----\r\n".utf8), "it is encrypted by age"),
      (Array("-----BEGIN PGP MESSAGE-----\n".utf8), "decrypt it first"),
      (Array("-----BEGIN PRIVATE KEY-----\n".utf8), "or a key, and no export"),
      (Array("{\"items\":[]}".utf8), "it is JSON"), (Array("[ {\"url\":\"\"}]".utf8), "it is JSON"),
      (
        Array("{\n  \"encrypted\": true,\n".utf8),
        "an encrypted export of Bitwarden: export it there as JSON without encryption"
      ),
      (Array("{\"encrypted\":false,\"folders\":[]}".utf8), "it is JSON of Bitwarden: --from json reads it"),
      (Array("{\"logins\":[{\"encryptedPassword\":\"\"}]}".utf8), "export them in Firefox"),
      (Array("{\"version\":\"1.3\",\"vaults\":{}}".utf8), "JSON of Proton Pass: --from json reads it"),
      (Array("{\"accounts\":[{\"vaults\":[]}]}".utf8), "JSON of 1Password: --from json reads it"),
      (Array("{\"version\":{},\"exporterRpId\":\"a\"}".utf8), "whorl passkey import"),
      (Array("PK\u{3}\u{4}    export.attributes".utf8), "1Password (1PUX): --from json reads the file export.data"),
      (Array("PK\u{3}\u{4}    [Content_Types].xml".utf8), "it is a workbook"),
      (Array("PK\u{3}\u{4}    credentials.csv".utf8), "import credentials.csv"),
      (Array("PK\u{3}\u{4}    Proton Pass/data.pgp".utf8), "an encrypted archive of Proton Pass"),
      (Array("PK\u{3}\u{4}    data.json".utf8), "Bitwarden's: unpack it, and import its data.json"),
      ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "it is an archive: unpack it"),
      (Array("b~>buttercup/a".utf8), "it is a vault of Buttercup"), (Array("%PDF-1.7".utf8), "a document to print"),
      (Array("<!DOCTYPE html>\n<html>".utf8), "it is a web page"), (Array("<pwlist>".utf8), "the XML of KeePass 1"),
      (Array("<KeePassFile/>".utf8), "it is XML and not CSV: --from keepassxc"),
      (Array("<?xml version=\"1.0\"?><root/>".utf8), "it is XML, of which only KeePass's is read"),
      (Array("title,password\nA,\0\n".utf8), "line 2 has a NUL"),
    ]
    for (bytes, why) in cases {
      await #expect {
        _ = try await read(bytes, EntryFile.csv)
      } throws: { error in
        if case .malformed(let told)? = error as? ImportError { told.contains(why) } else { false }
      }
    }
  }

  @Test(
    "a vault or an archive that only its name tells is refused with the export of its program that works",
    arguments: [
      ("a.1pux", "1Password"), ("a.opvault", "1Password"), ("a.agilekeychain", "1Password"), ("a.dash", "Dashlane"),
      ("a.enpassdb", "Enpass"), ("a.walletx", "Enpass"), ("a.psafe3", "Password Safe"), ("a.KDBX", "KeePass"),
      ("a.kdb", "KeePass"), ("a.bcup", "Buttercup"), ("a.rfo", "RoboForm"), ("a.spdb", "Sticky Password"),
      ("a.csv.gpg", "gpg --decrypt"), ("a.csv.age", "age --decrypt"), ("a.zip", "unpack it"), ("a.xls", "spreadsheet"),
      ("a.keychain-db", "Apple"),
    ])
  func names(name: String, word: String) async throws {
    try await withFolder { folder in
      let path = "\(folder)/\(name)"
      let isFolder = name.hasSuffix("vault") || name.hasSuffix("agilekeychain")
      if isFolder { try #require(mkdirPrivate(path)) } else { try writeFile(path, Array("title,password\nA,p\n".utf8)) }
      for isXML in [true, false] {
        #expect {
          _ = isXML ? try EntryFile.keepassxc(path) : try EntryFile.csv(path)
        } throws: { error in
          if case .malformed(let told)? = error as? ImportError { told.contains(word) } else { false }
        }
      }
    }
  }

  @Test("a file that is too large is told which export works")
  func tooLarge() async throws {
    let cases = [
      ("PK\u{3}\u{4}    export.data", "1Password (1PUX): --from json reads the file export.data"),
      ("<KeePassFile>", "is larger than 64 MiB: export it as CSV, which has no attached files"),
    ]
    for (head, why) in cases {
      try await withFolder { folder in
        try writeFile("\(folder)/file", Array(head.utf8))
        try #require(truncate("\(folder)/file", EntryFile.limit + 1) == 0)
        #expect {
          _ = try EntryFile.keepassxc("\(folder)/file")
        } throws: { error in
          if case .malformed(let told)? = error as? ImportError { told.contains(why) } else { false }
        }
      }
    }
  }

  @Test("only a file on the disk is told to be there after an import")
  func kept() async throws {
    try await withFolder { folder in
      try writeFile("\(folder)/file", [])
      #expect(EntryFile.isKept("\(folder)/file"))
      for path in ["-", folder, "\(folder)/gone", "/dev/null"] { #expect(!EntryFile.isKept(path)) }
    }
  }
}
