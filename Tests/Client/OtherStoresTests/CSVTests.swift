import SecureMemory
import Testing
import VaultDriver
import Whorl

@testable import OtherStores

@Suite("CSV files of password managers")
struct CSVTests {
  private func table(_ text: String) throws -> [[String?]] {
    let table = try CSVTable(SecretBytes(text: text))
    return table.records.map { $0.fields.map { table.text($0) } }
  }

  private func read(_ text: String) throws -> ReadEntries { try CSVEntries.read(CSVTable(SecretBytes(text: text))) }

  private func items(_ text: String) async throws -> [String: String] {
    let read = try read(text)
    var items: [String: String] = [:]
    for entry in read.entries {
      for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
    }
    return items
  }

  @Test("fields are read as RFC 4180 writes them")
  func fields() throws {
    #expect(try table("a,b\nc,d\n") == [["a", "b"], ["c", "d"]])
    #expect(try table("a,b\r\nc,d") == [["a", "b"], ["c", "d"]])
    #expect(try table("\"a,\"\"b\"\"\r\nc\",\"\"\n") == [["a,\"b\"\r\nc", ""]])
    #expect(try table("a,\n,b\n") == [["a", ""], ["", "b"]])
    #expect(try table("a,") == [["a", ""]])
    #expect(try table("\n\r\na\n\n") == [["a"]])
    #expect(try table("a\"b,c\rd") == [["a\"b", "c\rd"]])
    #expect(try table("\u{FEFF}a,b") == [["a", "b"]])
    #expect(try table("") == [])
  }

  @Test("what is no such file is refused, with its line")
  func malformed() throws {
    #expect(throws: ImportError.malformed("line 2 has a quotation mark that is not closed")) {
      try table("a\n\"b\nc\n")
    }
    #expect(throws: ImportError.malformed("line 3 has text behind a closing quotation mark")) {
      try table("a\n\"b\nc\"d\n")
    }
    #expect(throws: ImportError.malformed("there is nothing in it")) { try read("") }
    #expect(throws: ImportError.self) { try read("a,b\nc,d\n") }
  }

  @Test("an entry is named by title and user, or by the host of its address, and what else is secret stands beside it")
  func entries() async throws {
    let found = try await items(
      """
      name,url,username,password,note,pin
      Forge,https://forge.example/login,alice,first,,
      ,https://bob@bank.example:8443/x?y,bob,second,"two
      lines",1234
      Note,,,,only this,
      """)
    #expect(
      found == [
        "Forge/alice": "first", "bank.example:8443/bob": "second", "bank.example:8443/bob#notes": "two\nlines",
        "bank.example:8443/bob#pin": "1234", "Note": "only this",
      ])
  }

  @Test(
    "the columns of other programs are known",
    arguments: [
      #""Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created""# + "\n"
        + #""Root","T","u","p","https://x","n","o","0","2026","2026""#,
      "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
        + "f,1,login,T,n,,0,https://x,u,p,o",
      "url,username,password,totp,extra,name,grouping,fav\nhttps://x,u,p,o,n,T,f,0",
    ])
  func otherPrograms(file: String) async throws {
    #expect(try await items(file) == ["T/u": "p", "T/u#notes": "n", "T/u#totp": "o"])
  }

  @Test("address, folder and title are kept as attributes")
  func attributes() async throws {
    let read = try read("title,username,password,url,group\nT,u,p,https://x,f\n")
    let item = try #require(try await read.items(of: read.entries[0]).first)
    let texts = Dictionary(uniqueKeysWithValues: item.attributes.map { ($0.key.rawValue, $0.value) })
    #expect(texts == ["labl": .text("T"), "whorl.url": .text("https://x"), "whorl.folder": .text("f")])
  }

  @Test("lines that no entry can be made of are told, and the others are read")
  func unusable() throws {
    let read = try read("title,username,password\nT,u\n,u,p\nEmpty,u,\n\"a\nb\",u,p\nT,u,p\n")
    #expect(read.entries.map(\.name.description) == ["T/u"])
    #expect(read.unusable.map(\.called) == ["line 2", "line 3", "Empty", "a\nb"])
    #expect(read.unusable[0].reason == .source("has 2 fields, and the first line names 3"))
  }

  @Test("a text that is not UTF-8 is told, and a secret may be any bytes")
  func encoding() async throws {
    let bytes = Array("title,password\nA,".utf8) + [0xFF, 0x0A, 0xFF] + Array(",x\n".utf8)
    let read = try CSVEntries.read(CSVTable(SecretBytes(copying: bytes.span)))
    #expect(read.unusable == [UnusableEntry("line 3", .source("is not in UTF-8"))])
    let item = try #require(try await read.items(of: read.entries[0]).first)
    let secret = item.secret.withUnsafeBytes { Array($0) }
    #expect(secret == [0xFF])
  }
}
