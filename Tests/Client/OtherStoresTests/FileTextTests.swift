import Moving
import ProgramDriver
import SecureMemory
import Testing
import VaultDriver

@testable import OtherStores

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
      (Array("-----BEGIN PGP MESSAGE-----\n".utf8), "decrypt it first"), (Array("{\"items\":[]}".utf8), "it is JSON"),
      (Array("<KeePassFile/>".utf8), "it is XML and not CSV"),
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
}
