import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

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
        "bank.example:8443/bob#pin": "1234", "Note#notes": "only this",
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

  @Test(
    "the files of programs that write several addresses of an entry keep all of them",
    arguments: [
      "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n"
        + ",,login,T,,,0,\"https://a.test,https://b.test\",u,p,",
      "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault\n"
        + "login,T,\"https://a.test, https://b.test\",,u,p,,,1,1,Personal",
      "name,url,additional_urls,username,password,note,type\n"
        + "T,https://a.test,\"[\"\"https://b.test\"\"]\",u,p,,password",
    ])
  func keptAddresses(file: String) async throws {
    let read = try read(file)
    let item = try #require(try await read.items(of: read.entries[0]).first)
    #expect(item.name.description == "T/u" && item.attributes.addresses == ["https://a.test", "https://b.test"])
  }

  @Test(
    "a comma ends an address in front of a scheme or a host, and otherwise belongs to it",
    arguments: [
      ("", []), (" , ", []), ("https://a.test", ["https://a.test"]), ("a.test, b.test", ["a.test", "b.test"]),
      ("a.test,https://b.test/x,y", ["a.test", "https://b.test/x,y"]),
      ("https://a.test/x,b.test", ["https://a.test/x,b.test"]), ("A, Inc.", ["A, Inc."]),
      ("https://a.test:8443,b.test/c", ["https://a.test:8443", "b.test/c"]),
      (#"["https:\/\/a.test"]"#, ["https://a.test"]), (#"["a.test", "b.test"]"#, ["a.test", "b.test"]),
      ("http://[::1],http://[::2]", ["http://[::1]", "http://[::2]"]),
    ])
  func severalAddresses(_ field: String, _ addresses: [String]) {
    #expect(EntryAddresses.split(field) == addresses)
  }

  @Test("a field of very many addresses is read with as many as are kept")
  func manyAddresses() {
    let field = (1...10_000).map { "https://\($0).test" }.joined(separator: ",")
    let addresses = EntryAddresses.split(field)
    #expect(addresses.count == EntryAddresses.most && addresses[98] == "https://99.test")
    #expect(addresses.joined(separator: ",") == field)
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
    let inSpreadsheet = "export it again without opening the file in one"
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
      (Array("1.23E+15".utf8), "is a number that a spreadsheet has shortened: \(inSpreadsheet)"),
      (Array("4E-07".utf8), "is a number that a spreadsheet has shortened: \(inSpreadsheet)"),
      (
        Array("\"=\"\"0123\"\"\"".utf8),
        "is a formula of a spreadsheet: write what stands between its quotation marks in its place"
      ),
    ]
    let errors = ["#NAME?", "#REF!", "#BEZUG!", "#NV", "########", "Err:508", "#ERROR!"].map {
      (Array($0.utf8), "is what a spreadsheet writes in place of a value: \(inSpreadsheet)")
    }
    for (bytes, why) in cases + errors {
      for (head, before, field) in [
        ("title,password,notes\n", "A,", "password"), ("title,password,notes\n", "A,p,", "notes"),
        ("title,password,notes\n", "", "title"), ("title,password,Login Name\n", "A,p,", "Login Name"),
        ("title,password,PIN\n", "A,p,", "PIN"),
      ] {
        let file = Array("\(head)\(before)".utf8) + bytes + Array("\nB,kept\n".utf8)
        let read = try CSVEntries.read(CSVTable(SecretBytes(copying: file.span)))
        #expect(read.unusable.first == UnusableEntry("line 2", .field(field, why)))
        #expect(read.entries.map(\.name.description) == ["B"])
      }
    }
  }

  @Test("what looks like a spreadsheet's error and is none, or is in a column that is left out, excludes no entry")
  func unspoiltFields() async throws {
    for password in ["#NAME", "#1!", "x#REF!", "1.23e+15", "0E+15", "1E15", "=x", "##1", "a&amp", "12E+1"] {
      #expect(try await items("title,password,created\nA,\(password),#REF!\n") == ["A": password])
    }
  }

  @Test("characters written as in a web page are reported in every column of LastPass, and elsewhere in what is typed")
  func webPages() throws {
    let lastPass = "url,username,password,extra,name,grouping,fav\n"
    for (line, field) in [
      ("https://a.test/?a&amp;b,ann,pw,,A,,0", "url"), ("https://a.test,ann&#39;s,pw,,A,,0", "username"),
      ("https://a.test,ann,p&lt;w,,A,,0", "password"), ("https://a.test,ann,pw,x &quot;y&quot;,A,,0", "extra"),
      ("https://a.test,ann,pw,,A &amp; B,,0", "name"), ("https://a.test,ann,pw,,A,C &gt; D,0", "grouping"),
    ] {
      let read = try read(lastPass + line + "\n")
      guard case .field(field, let why)? = read.unusable.first?.reason else {
        Issue.record("\(line): \(read.unusable)")
        continue
      }
      #expect(why.contains("&amp; for &") && read.entries.isEmpty)
    }
    let read = try read(
      "name,url,username,password,note\nA &amp; B,https://a.test/?a&amp;b,ann,pw,<a>&lt;\nC,,c,p&amp;w,\n")
    #expect(read.entries.map(\.name.description) == ["A &amp; B/ann"])
    #expect(read.unusable.map(\.called) == ["line 3"])
  }

  @Test("the name of an item does not depend on which other columns of its CSV line are empty")
  func namesStay() async throws {
    let head = "title,username,password,notes,totp,pin,PIN,pin 2,password,secretdata,Custom Fields"
    let values = ["p", "n", "o", "1", "2", "3", "q", "\"a:x\nb:y\npin:z\"", "c", "d"]
    let labels = [
      "", "#notes", "#totp", "#pin", "#pin 2", "#pin 2 2", "#password", nil, "#custom fields", "#custom fields 2",
    ]
    let whole = try await items("\(head)\nT,u,\(values.joined(separator: ","))\n")
    #expect(whole.count == 12)
    for (value, label) in zip(values, labels) {
      if let label { #expect(whole["T/u\(label)"] == value) }
    }
    for mask in 1..<(1 << values.count) {
      let fields = values.indices.map { mask >> $0 & 1 == 1 ? values[$0] : "" }
      let some = try await items("\(head)\nT,u,\(fields.joined(separator: ","))\n")
      #expect(some.allSatisfy { whole[$0.key] == $0.value }, "\(fields): \(some)")
      #expect(some.count == fields.count { !$0.isEmpty } + (fields[7].isEmpty ? 0 : 2))
    }
    // Names and values in turn.
    let enpass =
      "\"Title\",\"Field\",\"Value\",\"Note\"\n\"T\",\"pin\",\"@\",\"pin\",\"2\",\"Notes\",\"3\",\"ID\",\"4\",\"\"\n"
    let rest = ["T#pin 2": "2", "T#notes 2": "3", "T#id": "4"]
    #expect(try await items(enpass.replacing("@", with: "1")) == rest.merging(["T#pin": "1"]) { $1 })
    #expect(try await items(enpass.replacing("@", with: "")) == rest)
  }

  @Test("an entry without a password has items for its other secrets, and none of its own name")
  func withoutPassword() async throws {
    let apple = """
      Title,URL,Username,Password,Notes,OTPAuth
      passkey.example (ann),https://passkey.example/,ann,,has a passkey,otpauth://totp/x?secret=ABC
      Wi-Fi: café,,,the key,,

      """
    #expect(
      try await items(apple) == [
        "passkey.example (ann)/ann#notes": "has a passkey",
        "passkey.example (ann)/ann#totp": "otpauth://totp/x?secret=ABC", "Wi-Fi: café": "the key",
      ])
    let read = try read("title,password,url,notes\nT,,https://t.test,n\n")
    let item = try #require(try await read.items(of: read.entries[0]).first)
    #expect(read.entries.map(\.name.description) == ["T#notes"])
    #expect(item.attributes.map(\.key.rawValue).sorted() == ["labl", "whorl.url"])
  }

  @Test("a secret whose name another entry of a CSV file has is reported, whichever comes first")
  func takenNames() async throws {
    let head = "title,password,notes\n"
    let (one, other) = ("A,p,n\n", "A#notes,q,\n")
    for file in [head + one + other, head + other + one] {
      let read = try read(file)
      #expect(
        read.unusable == [
          UnusableEntry("A#notes", .source("has the name of another secret of the file: rename its entry there"))
        ])
      #expect(try await items(file).keys.sorted() == ["A", "A#notes"])
    }
  }

  @Test("a CSV line that is a folder is no entry, unless there is a secret in it")
  func folders() async throws {
    let files = [
      "name,password,type\nClub,,folder\nA,p,password\nB,q,folder\n",
      "url,username,password,totp,extra,name,grouping,fav\nhttp://group,,,,,,Club,0\nhttps://a.test,,p,,,A,,0\n,,q,,,B,,0\n",
      "folder,title,password\nClub,,\nClub,A,p\nClub,B,q\n",
    ]
    for file in files {
      #expect(try read(file).unusable.isEmpty, "\(file)")
      #expect(try await items(file) == ["A": "p", "B": "q"], "\(file)")
    }
  }

  @Test("a CSV file of notes or cards alone is read, and one without secrets is refused")
  func notesOnly() async throws {
    #expect(try await items("title,note\nDoor,the code\n") == ["Door#notes": "the code"])
    #expect(
      try await items("type,name,cc_number,code,note\ncredit_card,Visa,4111,123,\n") == [
        "Visa#cc_number": "4111", "Visa#code": "123",
      ])
    #expect(
      try await items("type,title,first_name,item_name\nname,MR,Ann,Me\n") == [
        "Me#title": "MR", "Me#first_name": "Ann",
      ])
    #expect(
      throws: ImportError.malformed(
        "line 1 names no column 'password', and none with notes either: there is nothing secret in it to import")
    ) { try read("title,username,url\nA,ann,https://a.test\n") }
  }

  @Test("the lines within a CSV field lose their line ends, and of two of one kind none is lost")
  func namedLines() async throws {
    let file = "Password Name,SecretData\nA,\"Password:p\r\nUser Name:u\r\nPassword:q\r\nUser Name:v\r\nID:7\r\n\"\n"
    #expect(try await items(file) == ["A/u": "p", "A/u#password": "q", "A/u#user name": "v", "A/u#id": "7"])
    let long = String(repeating: "a:b\n", count: 1_001)
    #expect(
      try read("title,secretdata\nA,\"\(long)\"\nB,x:y\n").unusable == [
        UnusableEntry("line 2", .field("secretdata", "has more than 1000 lines, or a line with a long name"))
      ])
  }

  @Test("a CSV file with too many columns, lines or fields is refused at once", .timeLimit(.minutes(1)))
  func bounds() throws {
    let columns = (0..<300_000).map { "column \($0)" }.joined(separator: ",")
    let values = String(repeating: "x,", count: 299_999) + "x"
    #expect(throws: ImportError.malformed("line 1 has more than 1000 fields, and no program's export has")) {
      try read("title,password,\(columns)\nA,p,\(values)\n")
    }
    #expect(throws: ImportError.malformed("line 3 has more than 1000 fields, and no program's export has")) {
      try read("title,password\nA,p\n\(values)\n")
    }
    #expect(
      throws: ImportError.malformed("it has more than 100000 lines with something in them: import it in several files")
    ) { try read("title,password\n" + String(repeating: "A,p\n", count: 100_000)) }
    #expect(throws: ImportError.malformed("it has more than 2000000 fields: import it in several files")) {
      try read("title,password\n" + String(repeating: "A" + String(repeating: ",", count: 999) + "\n", count: 2_001))
    }
    let long = String(repeating: "x", count: 1_001)
    #expect(throws: ImportError.malformed("line 1 has no names of columns: column 2 has more than 1000 bytes")) {
      try read("title,\(long),password\nA,x,p\n")
    }
    let names = (0..<998).map { "column \($0)" }.joined(separator: ",")
    let whole = try read("title,password,\(names)\nA,p" + String(repeating: ",x", count: 998) + "\n")
    #expect(whole.entries.count == 1)
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
