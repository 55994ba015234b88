import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Moving

/// A file as a program writes it, with invented contents, and the items that are imported from it.
struct ExporterFile: CustomTestStringConvertible {
  let program: String
  let lines: [String]
  let items: [String: String]
  /// The attributes of the first item except its label.
  var attributes: [String: String] = [:]

  var testDescription: String { program }

  // The header lines are those that the programs write, or that other importers expect.
  static let all = [
    ExporterFile(
      program: "1Password 8",
      lines: [
        "Title,Url,Username,Password,OTPAuth,Favorite,Archived,Tags,Notes",
        #"Forum,https://forum.test,ann,"p,w""1",otpauth://totp/f?secret=ABC,false,false,club;talk,a note"#,
      ],
      items: [
        "Forum/ann": #"p,w"1"#, "Forum/ann#totp": "otpauth://totp/f?secret=ABC", "Forum/ann#notes": "a note",
      ], attributes: ["whorl.url": "https://forum.test", "whorl.field.tags": "club;talk"]),
    ExporterFile(
      program: "Bitwarden",
      lines: [
        "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
        #"Club,1,login,Forum,a note,"pin: 12",0,https://forum.test,ann,pw1,ABC"#, ",,note,Door,the code,,0,,,,",
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#fields": "pin: 12", "Forum/ann#totp": "ABC",
        "Door#notes": "the code",
      ], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Bitwarden, an entry with several addresses and without a name",
      lines: [
        "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
        #",,login,,,,0,"https://forum.test/a,b?c=d,e,https://talk.test,androidapp://test.forum",ann,pw1,"#,
      ], items: ["forum.test/ann": "pw1"],
      attributes: [
        "whorl.url": "https://forum.test/a,b?c=d,e", "whorl.url.2": "https://talk.test",
        "whorl.url.3": "androidapp://test.forum",
      ]),
    ExporterFile(
      program: "Bitwarden, an organization",
      lines: [
        "collections,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp",
        "Team,login,Forum,,,0,https://forum.test,ann,pw1,",
      ], items: ["Forum/ann": "pw1"], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Team"]),
    ExporterFile(
      program: "LastPass",
      lines: [
        "url,username,password,totp,extra,name,grouping,fav", "https://forum.test,ann,pw1,ABC,a note,Forum,Club,0",
        "http://sn,,,,the code,Door,,0",
      ], items: ["Forum/ann": "pw1", "Forum/ann#totp": "ABC", "Forum/ann#notes": "a note", "Door#notes": "the code"],
      attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Dashlane",
      lines: [
        "username,username2,username3,title,password,note,url,category,otpUrl",
        "ann,ann2,,Forum,pw1,a note,https://forum.test,Club,otpauth://totp/f?secret=ABC",
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#totp": "otpauth://totp/f?secret=ABC",
      ],
      attributes: [
        "whorl.url": "https://forum.test", "whorl.folder": "Club", "whorl.field.username2": "ann2",
      ]),
    ExporterFile(
      program: "KeePassXC",
      lines: [
        #""Group","Title","Username","Password","URL","Notes","TOTP","Icon","Last Modified","Created""#,
        #""Root/Club","Forum","ann","p""w","https://forum.test","a note","otpauth://totp/f?secret=ABC","0","2026-01-02","2026-01-01""#,
      ],
      items: [
        "Forum/ann": #"p"w"#, "Forum/ann#notes": "a note", "Forum/ann#totp": "otpauth://totp/f?secret=ABC",
      ], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Root/Club"]),
    ExporterFile(
      program: "KeePass 1, and KeePass 2 in its form",
      lines: [
        #""Account","Login Name","Password","Web Site","Comments""#,
        #""Forum","ann","p\"w\\1","https://forum.test","a note""#, #""No Site","bob","pw2","","""#,
      ], items: ["Forum/ann": #"p"w\1"#, "Forum/ann#notes": "a note", "No Site/bob": "pw2"],
      attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "KeePass 2, generic",
      lines: [
        #""Group","Title","User Name","Password","URL","Notes""#,
        #""Club","Forum","ann","p\w","https://forum.test","""#,
      ], items: ["Forum/ann": #"p\w"#], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Chrome, Edge, Brave, Opera, Vivaldi",
      lines: ["name,url,username,password,note", "forum.test,https://forum.test/login,ann,pw1,"],
      items: ["forum.test/ann": "pw1"], attributes: ["whorl.url": "https://forum.test/login"]),
    ExporterFile(
      program: "Firefox",
      lines: [
        #""url","username","password","httpRealm","formActionOrigin","guid","timeCreated","timeLastUsed","timePasswordChanged""#,
        #""https://forum.test","ann","pw1",,"https://forum.test","{1-2}","1700000000000","1700000000000","1700000000000""#,
      ], items: ["forum.test/ann": "pw1"], attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "Safari and Apple Passwords",
      lines: [
        "Title,URL,Username,Password,Notes,OTPAuth",
        #""forum.test (ann)",https://forum.test/,ann,pw1,"two"# + "\n" + #"lines",otpauth://totp/f?secret=ABC"#,
      ],
      items: [
        "forum.test (ann)/ann": "pw1", "forum.test (ann)/ann#notes": "two\nlines",
        "forum.test (ann)/ann#totp": "otpauth://totp/f?secret=ABC",
      ], attributes: ["whorl.url": "https://forum.test/"]),
    ExporterFile(
      program: "Enpass",
      lines: [
        #""Title","Field","Value","Field","Value",.........,"Note""#,
        #""Forum","Username","ann","Password","pw1","URL","https://forum.test","pin","12","a note""#,
        #""Shop","Password","pw2","E-mail","ann@mail.test","""#,
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#pin": "12", "Forum/ann#notes": "a note", "Shop/ann@mail.test": "pw2",
      ], attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "Enpass, without a first line",
      lines: [
        #""Forum","Username","ann","Password","pw1","URL","https://forum.test","""#,
        #""Shop","Username","bob","Password","pw2","URL","https://shop.test","""#,
      ], items: ["Forum/ann": "pw1", "Shop/bob": "pw2"], attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "Enpass, an entry with several addresses",
      lines: [
        #""Title","Field","Value","Field","Value",.........,"Note""#,
        #""Forum","URL","https://forum.test","Password","pw1","Website","https://talk.test","URL","https://forum.test","""#,
      ], items: ["Forum": "pw1"],
      attributes: ["whorl.url": "https://forum.test", "whorl.url.2": "https://talk.test"]),
    ExporterFile(
      program: "NordPass, entries with several addresses",
      lines: [
        "name,url,additional_urls,username,password,note,folder,type,custom_fields",
        #"Forum,https://forum.test,"[""https://talk.test/a"",""https:\/\/old.test""]",ann,pw1,,,password,"#,
      ], items: ["Forum/ann": "pw1"],
      attributes: [
        "whorl.url": "https://forum.test", "whorl.url.2": "https://talk.test/a", "whorl.url.3": "https://old.test",
      ]),
    ExporterFile(
      program: "NordPass",
      lines: [
        "name,url,additional_urls,username,password,note,cardholdername,cardnumber,cvc,pin,expirydate,zipcode,folder,"
          + "shared_folder,full_name,phone_number,email,address1,address2,city,country,state,type,custom_fields",
        "Club,,,,,,,,,,,,,,,,,,,,,,folder,", "Forum,https://forum.test,,ann,pw1,a note,,,,,,,Club,,,,,,,,,,password,",
        "Card,,,,,,Ann Example,4111,123,,,,,,,,,,,,,,credit_card,",
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#notes": "a note", "Card#cardholdername": "Ann Example",
        "Card#cardnumber": "4111", "Card#cvc": "123",
      ], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "RoboForm",
      lines: [
        "Name,Url,MatchUrl,Login,Pwd,Note,Folder,RfFieldsV2",
        "Forum,https://forum.test/login,https://forum.test,ann,pw1,a note,/Club,\"pin,,pin,txt,12\",\"x,,x,pwd,13\"",
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#rffieldsv2": "pin,,pin,txt,12",
        "Forum/ann#rffieldsv2 2": "x,,x,pwd,13",
      ],
      attributes: [
        "whorl.url": "https://forum.test/login", "whorl.field.matchurl": "https://forum.test",
        "whorl.folder": "/Club",
      ]),
    ExporterFile(
      program: "Proton Pass",
      lines: [
        "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault",
        "login,Forum,https://forum.test,ann@mail.test,,pw1,,otpauth://totp/f?secret=ABC,1700000000,1700000000,Own",
        "login,Forum,https://forum.test,ann@work.test,,pw2,,,1700000000,1700000000,Work",
        "login,Shop,https://shop.test,ann@mail.test,ann,pw3,,,1700000000,1700000000,Own",
      ],
      items: [
        "Forum/ann@mail.test": "pw1", "Forum/ann@mail.test#totp": "otpauth://totp/f?secret=ABC",
        "Forum/ann@work.test": "pw2", "Shop/ann": "pw3",
      ],
      attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Own"]),
    ExporterFile(
      program: "Proton Pass, an entry with several addresses",
      lines: [
        "type,name,url,email,username,password,note,totp,createTime,modifyTime,vault",
        #"login,Forum,"https://forum.test/, https://talk.test/",,ann,pw1,,,1700000000,1700000000,Own"#,
      ], items: ["Forum/ann": "pw1"],
      attributes: [
        "whorl.url": "https://forum.test/", "whorl.url.2": "https://talk.test/", "whorl.folder": "Own",
      ]),
    ExporterFile(
      program: "Keeper, with a line of names",
      lines: [
        "Folder,Title,Login,Password,Website Address,Notes,Shared Folder,Custom Fields",
        #""Club","Forum","ann","pw1","https://forum.test","a note","","pin","12""#,
      ],
      items: [
        "Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#custom fields": "pin",
        "Forum/ann#custom fields 2": "12",
      ], attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Password Safe",
      lines: [
        "Group/Title\tUsername\tPassword\tURL\tAutoType\tCreated Time\tPassword Modified Time\tLast Access Time\t"
          + "Password Expiry Date\tPassword Expiry Interval\tRecord Modified Time\tPassword Policy\tPassword Policy Name\t"
          + "History\tRun Command\tDCA\tShift+DCA\te-mail\tProtected\tSymbols\tKeyboard Shortcut\tNotes",
        "Club.Talk.forum»test\tann\tp,w;1\thttps://forum.test\t\t2026/01/01 00:00:00\t\t\t\t\t\t\t\t\t\t\t\tann@mail.test\tN\t\t\t"
          + "\"one»two\"",
      ], items: ["forum.test/ann": "p,w;1", "forum.test/ann#notes": "one\ntwo"],
      attributes: [
        "whorl.url": "https://forum.test", "whorl.folder": "Club/Talk", "whorl.field.email": "ann@mail.test",
      ]),
    ExporterFile(
      program: "Buttercup",
      lines: [
        "!type,!group_id,!group_name,!group_parent,title,username,password,URL,note,id,pin",
        "group,1-2,Club,0,,,,,,,", "entry,1-2,Club,0,Forum,ann,pw1,https://forum.test,a note,3-4,12",
      ], items: ["Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#pin": "12"],
      attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Zoho Vault",
      lines: [
        "Password Name,Description,Password URL,SecretData,Notes,CustomData,Tags,Classification,Favorite,login_totp,Folder Name",
        "Forum,,https://forum.test,\"SecretType:Web Account\nUser Name:ann\nPassword:p:w\n\",a note,\"pin:12\n\",,P,0,ABC,Club",
      ], items: ["Forum/ann": "p:w", "Forum/ann#notes": "a note", "Forum/ann#pin": "12", "Forum/ann#totp": "ABC"],
      attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Club"]),
    ExporterFile(
      program: "Sticky Password", lines: ["URL,Login,Password,Notes,Title", "https://forum.test,ann,pw1,a note,Forum"],
      items: ["Forum/ann": "pw1", "Forum/ann#notes": "a note"], attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "Passbolt",
      lines: [
        #""Title","Username","URL","Password","Notes","Group","TOTP""#,
        #""Forum","ann","https://forum.test","pw1","a note","Root","ABC""#,
      ], items: ["Forum/ann": "pw1", "Forum/ann#notes": "a note", "Forum/ann#totp": "ABC"],
      attributes: ["whorl.url": "https://forum.test", "whorl.folder": "Root"]),
    ExporterFile(
      program: "Password Exporter",
      lines: [
        "# Generated by Password Exporter; Export format 1.1; Encrypted: false",
        #""hostname","username","password","formSubmitURL","httpRealm","usernameField","passwordField""#,
        #""https://forum.test","ann","p%22w%26%25","https://forum.test","","user","pass""#,
      ], items: ["forum.test/ann": #"p"w&%"#], attributes: ["whorl.url": "https://forum.test"]),
    ExporterFile(
      program: "Excel, from a list of one's own",
      lines: ["sep=;", "Title;Login;Password;Website;Notes", "Forum;ann;pw1;https://forum.test"],
      items: ["Forum/ann": "pw1"], attributes: ["whorl.url": "https://forum.test"]),
  ]
}

@Suite("Sample CSV files of other programs")
struct ExporterTests {
  @Test("sample CSV files of other programs are read with passwords and other fields", arguments: ExporterFile.all)
  func read(_ file: ExporterFile) async throws {
    for lineEnd in ["\n", "\r\n"] {
      let text = file.lines.joined(separator: lineEnd) + lineEnd
      let read = try CSVEntries.read(CSVTable(SecretBytes(text: text)))
      var items: [String: String] = [:]
      for entry in read.entries {
        for item in try await read.items(of: entry) { items[item.name.description] = item.secret.text }
      }
      #expect(items == file.items)
      #expect(read.unusable.isEmpty, "\(read.unusable)")
      let first = try #require(try await read.items(of: read.entries[0]).first)
      var attributes: [String: String] = [:]
      for (name, value) in first.attributes where name != .label {
        if case .text(let text) = value { attributes[name.rawValue] = text }
      }
      #expect(attributes == file.attributes)
    }
  }

  @Test("columns of a Firefox CSV file that hold no secret or name, as of dates, are reported as left out")
  func leftOut() throws {
    let firefox = try #require(ExporterFile.all.first { $0.program == "Firefox" })
    let read = try CSVEntries.read(CSVTable(SecretBytes(text: firefox.lines.joined(separator: "\n"))))
    #expect(
      read.leftOut == [
        "of every entry, what is no secret in the columns 'formActionOrigin', 'guid', 'timeCreated', 'timeLastUsed', "
          + "'timePasswordChanged'"
      ])
  }

  @Test(
    "CSV files of Keeper and mSecure without a header are refused",
    arguments: [
      // Keeper and mSecure.
      #""Club","Forum","ann","pw1","https://forum.test","a note","""# + "\n",
      "mSecure CSV export file,,,\nForum|12,Login,,a note,0,https://forum.test,ann,pw1\n",
    ])
  func noNames(_ file: String) throws {
    #expect {
      _ = try CSVEntries.read(CSVTable(SecretBytes(text: file)))
    } throws: { error in
      if case .malformed(let why)? = error as? ImportError { why.contains("Keeper and mSecure") } else { false }
    }
  }
}
