internal import Primitives

/// The entries in the JSON of Bitwarden, of Proton Pass, and of 1Password (the file export.data in its 1PUX archive).
struct JSONEntries {
  private var entries: [PasswordEntry] = []
  private var unusable: [UnusableEntry] = []
  /// How many entries there were so far.
  private var count = 0

  /// The most entries of a file, and the most fields of an entry, that are read.
  private static let mostEntries = 100_000
  fileprivate static let mostFields = 1_000

  static func read(_ text: SharedSecret) throws(ImportError) -> ReadEntries {
    let file = try JSONPlace(text)
    var reading = JSONEntries()
    if file["items"].isList, !file["encrypted"].isTrue {
      try reading.addBitwarden(file)
    } else if file["vaults"].isObject, !file["encrypted"].isTrue {
      try reading.addProton(file)
    } else if file["accounts"].isList {
      try reading.addOnePassword(file)
    } else {
      throw .malformed(
        text.bytes.withUnsafeBytes { RefusedFormat.foreignJSON($0) }
          ?? "it is no JSON of Bitwarden, Proton Pass or 1Password")
    }
    guard reading.count > 0 else { throw .malformed("there is no entry in it") }
    return ReadEntries(
      reading.entries, unusable: reading.unusable, leftOut: ["of every entry, its times and its earlier passwords"])
  }

  /// Makes one entry.
  private mutating func add(_ title: JSONPlace, in folder: String, _ fill: (inout JSONEntry) -> Void)
    throws(ImportError)
  {
    count += 1
    guard count <= Self.mostEntries else { throw .malformed("it has more than \(Self.mostEntries) entries") }
    var entry = JSONEntry(title: title.plain, folder: folder)
    fill(&entry)
    let whole = entry.finished(origin: "entry \(count)")
    if entry.fields > Self.mostFields {
      unusable.append(UnusableEntry(whole.called, .source("has more than \(Self.mostFields) fields")))
    } else if entry.isInTrash {
      unusable.append(UnusableEntry(whole.called, .source("is in the trash")))
    } else {
      entries.append(whole)
      for problem in entry.staying { unusable.append(UnusableEntry(whole.called, .source(problem))) }
    }
  }

  // MARK: Bitwarden

  private mutating func addBitwarden(_ file: JSONPlace) throws(ImportError) {
    var folders: [String: String] = [:]
    for folder in file["folders"].elements + file["collections"].elements {
      folders[folder["id"].plain] = folder["name"].plain
    }
    for item in file["items"].elements {
      let ids = [item["folderId"]] + item["collectionIds"].elements
      let folder = ids.lazy.compactMap { folders[$0.plain] }.first
      try add(item["name"], in: folder ?? "") { entry in
        entry.isInTrash = !item["deletedDate"].plain.isEmpty
        let login = item["login"]
        entry.user = login["username"].plain
        for address in login["uris"].elements { entry.add(address: address["uri"].plain) }
        entry.addPassword(login["password"])
        entry.addNotes(item["notes"])
        entry.addCode(login["totp"])
        for field in item["fields"].elements { entry.addField(field["value"], named: field["name"].plain) }
        for kind in ["card", "identity", "sshKey"] { entry.addLeaves(of: item[kind]) }
        if !login["fido2Credentials"].elements.isEmpty { entry.staying.append(JSONEntry.hasPasskey) }
        if !item["attachments"].elements.isEmpty { entry.staying.append(JSONEntry.hasFiles) }
      }
    }
  }

  // MARK: Proton Pass

  private mutating func addProton(_ file: JSONPlace) throws(ImportError) {
    for (_, vault) in file["vaults"].members {
      for item in vault["items"].elements {
        let data = item["data"]
        try add(data["metadata"]["name"], in: vault["name"].plain) { entry in
          entry.isInTrash = item["state"].number == Self.protonTrash
          let content = data["content"]
          entry.addNotes(data["metadata"]["note"])
          if data["type"].plain == "login" {
            entry.user = [content["itemUsername"], content["username"]].map(\.plain).first { !$0.isEmpty } ?? ""
            entry.email = content["itemEmail"].plain
            for address in content["urls"].elements { entry.add(address: address.plain) }
            entry.addPassword(content["password"])
            entry.addCode(content["totpUri"])
            if !content["passkeys"].elements.isEmpty { entry.staying.append(JSONEntry.hasPasskey) }
          } else {
            entry.email = item["aliasEmail"].plain
            entry.addLeaves(of: content)
          }
          for field in data["extraFields"].elements { entry.addProton(field) }
          if !item["files"].elements.isEmpty { entry.staying.append(JSONEntry.hasFiles) }
        }
      }
    }
  }

  /// The state of an item that was deleted.
  private static let protonTrash = 2

  // MARK: 1Password

  private mutating func addOnePassword(_ file: JSONPlace) throws(ImportError) {
    for vault in file["accounts"].elements.flatMap({ $0["vaults"].elements }) {
      for item in vault["items"].elements {
        let (overview, details) = (item["overview"], item["details"])
        try add(overview["title"], in: vault["attrs"]["name"].plain) { entry in
          entry.add(address: overview["url"].plain)
          for address in overview["urls"].elements { entry.add(address: address["url"].plain) }
          let tags = overview["tags"].elements.map(\.plain)
          entry.tags = tags.joined(separator: ",")
          entry.addNotes(details["notesPlain"])
          entry.addPassword(details["password"])
          for field in details["loginFields"].elements {
            switch field["designation"].plain {
            case "username": entry.user = field["value"].plain
            case "password": entry.addPassword(field["value"])
            default: entry.addField(field["value"], named: field["name"].plain)
            }
          }
          for field in details["sections"].elements.flatMap({ $0["fields"].elements }) { entry.addOnePassword(field) }
          if details["passkey"].isObject { entry.staying.append(JSONEntry.hasPasskey) }
          if details["documentAttributes"].isObject { entry.staying.append(JSONEntry.hasFiles) }
        }
      }
    }
  }
}

/// An entry to which one field after the other is added.
private struct JSONEntry {
  let title: String
  let folder: String
  var user = ""
  var email = ""
  var tags = ""
  var isInTrash = false
  /// What does not come with the entry, as the words after "it".
  var staying: [String] = []
  private(set) var fields = 0

  static let hasPasskey = "has a passkey, which stays behind: its site makes a new one"
  static let hasFiles = "has attached files, which stay behind"

  private var addresses: [String] = []
  private var passwords: [SharedSecret] = []
  private var notes = SharedSecret(SecretBytes(count: 0))
  private var codes: [SharedSecret] = []
  private var named: [PasswordEntry.Secret] = []

  init(title: String, folder: String) { (self.title, self.folder) = (title, folder) }

  mutating func add(address: String) {
    fields += 1
    // A list of very many is refused, and need not be searched before that.
    guard !address.isEmpty, fields <= JSONEntries.mostFields, !addresses.contains(address) else { return }
    addresses.append(address)
  }

  mutating func addPassword(_ place: JSONPlace) {
    let secret = place.secret
    fields += 1
    if !secret.bytes.isEmpty { passwords.append(secret) }
  }

  mutating func addNotes(_ place: JSONPlace) { notes = place.secret }

  /// Adds the seed of one-time codes.
  mutating func addCode(_ place: JSONPlace) {
    let secret = place.secret
    fields += 1
    if !secret.bytes.isEmpty { codes.append(secret) }
  }

  /// Adds a field that the person has named, which may be secret.
  mutating func addField(_ place: JSONPlace, named name: String) {
    fields += 1
    named.append(PasswordEntry.Secret(label: name.isEmpty ? "field" : name, value: place.secret))
  }

  /// Adds every string and number in a value, with the name of its member.
  mutating func addLeaves(of place: JSONPlace, named prefix: String = "") {
    for (name, value) in place.members {
      let name = prefix.isEmpty ? name : "\(prefix) \(name)"
      if value.isObject {
        addLeaves(of: value, named: name)
      } else if value.isList {
        for element in value.elements { addProton(element) }
      } else if !value.secret.bytes.isEmpty {
        addField(value, named: name)
      }
    }
  }

  /// Adds a field of Proton Pass, or a section of such fields.
  mutating func addProton(_ field: JSONPlace) {
    let (data, name) = (field["data"], field["fieldName"].plain)
    for inner in field["sectionFields"].elements { addProton(inner) }
    addCode(data["totpUri"])
    if !data["content"].secret.bytes.isEmpty { addField(data["content"], named: name) }
    if data["timestamp"].isObject { addLeaves(of: data["timestamp"], named: name) }
  }

  /// Adds a field of a section of 1Password, whose value has its kind as a name.
  mutating func addOnePassword(_ field: JSONPlace) {
    let name = [field["title"], field["id"]].map(\.plain).first { !$0.isEmpty } ?? ""
    for (kind, value) in field["value"].members {
      if kind == "totp" {
        addCode(value)
      } else if kind == "file" {
        staying.append(Self.hasFiles)
      } else if value.isObject {
        addLeaves(of: value, named: name)
      } else if !value.secret.bytes.isEmpty {
        addField(value, named: name)
      }
    }
  }

  /// The entry, with the e-mail address as the account if there is no user name.
  func finished(origin: String) -> PasswordEntry {
    var entry = PasswordEntry(origin: origin)
    (entry.title, entry.folder, entry.user) = (title, folder, user.isEmpty ? email : user)
    (entry.url, entry.furtherURLs) = (addresses.first ?? "", Array(addresses.dropFirst()))
    if !user.isEmpty, !email.isEmpty { entry.fields["email"] = email }
    if !tags.isEmpty { entry.fields["tags"] = tags }
    func add(_ label: String?, _ secrets: [SharedSecret]) {
      entry.secrets += secrets.map { PasswordEntry.Secret(label: label, value: $0) }
    }
    add(nil, passwords)
    // These names are theirs, also where there are none: fields of the same name have the next number.
    add("notes", [notes])
    add("totp", codes.isEmpty ? [SharedSecret(SecretBytes(count: 0))] : codes)
    entry.secrets += named
    return entry
  }
}
