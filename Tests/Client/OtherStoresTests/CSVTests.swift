import Moving
import SecretModel
import SecureMemory
import Testing
import VaultDriver

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

  @Test("fields of a CSV file are read as in RFC 4180")
  func fields() throws {
    #expect(try table("a,b\nc,d\n") == [["a", "b"], ["c", "d"]])
    #expect(try table("a,b\r\nc,d") == [["a", "b"], ["c", "d"]])
    #expect(try table("\"a,\"\"b\"\"\r\nc\",\"\"\n") == [["a,\"b\"\r\nc", ""]])
    #expect(try table("a,\n,b\n") == [["a", ""], ["", "b"]])
    #expect(try table("a,") == [["a", ""]])
    #expect(try table("\n\r\na\n\n") == [["a"]])
    #expect(try table("a\"b,c\rd\n") == [["a\"b", "c\rd"]])
    #expect(try table("\u{FEFF}a,b") == [["a", "b"]])
    #expect(try table("") == [])
  }

  @Test("a malformed CSV file is refused, with the line number")
  func malformed() throws {
    #expect(throws: ImportError.malformed("line 2 has a quotation mark that is not closed")) {
      try table("a\n\"b\nc\n")
    }
    #expect(throws: ImportError.malformed("line 3 has text after a closing quotation mark")) {
      try table("a\n\"b\nc\"d\n")
    }
    #expect(throws: ImportError.malformed("there is nothing in it")) { try read("") }
    #expect(throws: ImportError.self) { try read("a,b\nc,d\n") }
  }

  @Test("a CSV entry is named by title and user, or by its address's host, and its other secrets are items beside it")
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
    "the CSV column names of other password managers are known",
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

  @Test("address, folder and title of a CSV entry are kept as attributes")
  func attributes() async throws {
    let read = try read("title,username,password,url,group\nT,u,p,https://x,f\n")
    let item = try #require(try await read.items(of: read.entries[0]).first)
    let texts = Dictionary(uniqueKeysWithValues: item.attributes.map { ($0.key.rawValue, $0.value) })
    #expect(texts == ["labl": .text("T"), "whorl.url": .text("https://x"), "whorl.folder": .text("f")])
  }

  @Test("CSV lines without a usable entry are reported, and the others are read")
  func unusable() throws {
    let read = try read("title,username,password\nT,u,p,x\n,u,p\nEmpty,u,\n\"a\nb\",u,p\nT,u,p\n")
    #expect(read.entries.map(\.name.description) == ["T/u"])
    #expect(read.unusable.map(\.called) == ["line 2", "line 3", "Empty", "a\nb"])
    #expect(read.unusable[0].reason == .source("has 4 fields, and the first line names 3"))
  }

  @Test("missing fields at the end of a CSV line are empty, and so are lines of separators alone")
  func missingFields() async throws {
    let file = "name,url,username,password,note\r\nA,https://a.test,ann,pw1\r\nB,https://b.test,bob,pw2,,\r\n,,,,\r\n"
    #expect(try await items(file) == ["A/ann": "pw1", "B/bob": "pw2"])
    #expect(try read(file).unusable.isEmpty)
  }

  @Test("a CSV field that another program has damaged excludes its entry, which is reported by line and column")
  func spoiltFields() throws {
    let cases: [([UInt8], String)] = [
      ([0x70, 0xE4, 0x73], "is not in UTF-8"), ([0xFF], "is not in UTF-8"),
      (
        Array("p\u{FFFD}s".utf8),
        "has U+FFFD in it, which a program writes in place of a character that it could not read"
      ),
      (
        Array("{REF:P@I:0123456789ABCDEF0123456789ABCDEF}".utf8),
        "refers to another entry: only KeePass's export as XML says what it stands for"
      ),
      (
        Array("#NAME?".utf8),
        "is what a spreadsheet writes in place of a value: export it without opening the file in one"
      ),
    ]
    for (bytes, why) in cases {
      for (head, before, field) in [
        ("title,password,notes\n", "A,", "password"), ("title,password,notes\n", "A,p,", "notes"),
        ("title,password,notes\n", "", "title"), ("title,password,Login Name\n", "A,p,", "Login Name"),
      ] {
        let file = Array("\(head)\(before)".utf8) + bytes + Array("\nB,kept\n".utf8)
        let read = try CSVEntries.read(CSVTable(SecretBytes(copying: file.span)))
        #expect(read.unusable.first == UnusableEntry("line 2", .field(field, why)))
        #expect(read.entries.map(\.name.description) == ["B"])
      }
    }
  }

  @Test("blanks around a quoted CSV field are ignored, and so is the blank in separators of a comma and a blank")
  func blanks() async throws {
    #expect(try table("\"a\", \"b\" , c\n\td ,\"e\"\n") == [["a", "b", "c"], ["\td ", "e"]])
    #expect(try table("a, b\nc, d\ne,  f\n") == [["a", "b"], ["c", "d"], ["e", " f"]])
    let file = "Title, Login, Password\n\"Forum\", \"ann\", \"pw-sp\"\n"
    #expect(try await items(file) == ["Forum/ann": "pw-sp"])
  }

  @Test(
    "the separator of a CSV file is found in its header, or given by a sep= line",
    arguments: [",", ";", "\t", "|"])
  func separators(_ separator: String) async throws {
    let password = "p,;\t|w"
    let lines = [["Title", "Login", "Password", "Website"], ["Forum", "ann", "\"\(password)\"", "https://a.test"]]
    let text = lines.map { $0.joined(separator: separator) + "\r\n" }.joined()
    for said in ["", "sep=\(separator)\r\n", "\"sep=\(separator)\"\r\n"] {
      #expect(try await items(said + text) == ["Forum/ann": password])
    }
  }

  @Test("line numbers in reports on a CSV file are those of an editor, whatever precedes the header")
  func lineNumbers() throws {
    let read = try read("sep=;\r\ntitle;password\r\n\"a\r\nb\";p\r\nC;\r\n;p\r\n")
    #expect(read.unusable.map(\.called) == ["a\r\nb", "C", "line 6"])
  }

  @Test("a carriage return alone ends a line of a CSV file")
  func carriageReturns() async throws {
    #expect(try await items("title,password\rA,a\rB,b\r") == ["A": "a", "B": "b"])
  }

  @Test("a CSV file without a usable header or without entries is refused, with the reason and without a password")
  func noNames() throws {
    let refused: [(String, String)] = [
      ("Work,Forum,ann,pw,https://a.test,,\n", "names no column 'password'"),
      ("title,password\n", "no entry follows it"),
      ("# Generated by Password Exporter; Export format 1.1; Encrypted: true\n\"hostname\"\n", "are encoded"),
    ]
    for (file, why) in refused {
      #expect {
        _ = try read(file)
      } throws: { error in
        guard case .malformed(let told)? = error as? ImportError else { return false }
        return told.contains(why) && !told.contains("pw")
      }
    }
  }
}
