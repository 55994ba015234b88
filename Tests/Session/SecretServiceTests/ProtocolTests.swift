import Glibc
import Keys
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("The Secret Service API", .serialized)
struct ProtocolTests {
  private static let properties = "org.freedesktop.DBus.Properties"

  @Test("a Secret Service session encrypts with Diffie-Hellman and AES, and refuses wrong keys and algorithms")
  func encrypted() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let name = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
      let own = try OwnKey()
      let opened = try await client.call(
        ServiceClient.root, "Service", "OpenSession", [.string(name), .variant(.bytes(own.publicKey))])
      let peer = try #require(opened[0].asVariant?.asBytes)
      let session = try #require(opened[1].asObjectPath)
      let plain = try await client.plainSession()
      let item = try await client.create("a secret", label: "l", ["a": "b"], session: plain)
      let parts = try #require(
        try await client.call(item, "Item", "GetSecret", [.objectPath(session)]).first?.asStructure)
      let (iv, box) = (try #require(parts[1].asBytes), try #require(parts[2].asBytes))
      #expect(try own.decrypted(box, iv: iv, from: peer) == Array("a secret".utf8))
      // Degenerate keys, and what is none.
      for input: BusValue in [
        .bytes([]), .bytes([0]), .bytes([1]), .bytes([UInt8](repeating: 0xFF, count: 128)), .string(""),
      ] {
        let error = await client.error(
          ServiceClient.root, "Service", "OpenSession", [.string(name), .variant(input)])
        #expect(error == "InvalidArgs")
      }
      let unknown = await client.error(
        ServiceClient.root, "Service", "OpenSession", [.string("rot13"), .variant(.string(""))])
      #expect(unknown == "NotSupported")
    }
  }

  @Test("a Secret Service session belongs to one program and ends with Close")
  func sessions() async throws {
    try await RunningSecretService.with { service in
      let (one, two) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await one.plainSession()
      let item = try await one.create("s", label: "l", ["a": "b"], session: session)
      #expect(await two.error(item, "Item", "GetSecret", [.objectPath(session)]) == "NoSession")
      #expect(await two.error(session, "Session", "Close") == "NoSession")
      #expect(try await one.secret(item, session: session).text == "s")
      try await one.call(session, "Session", "Close")
      #expect(await one.error(item, "Item", "GetSecret", [.objectPath(session)]) == "NoSession")
    }
  }

  @Test("Secret Service collections have labels, aliases, items, signals and times, and are deleted with their items")
  func collections() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      func alias(_ name: String) async throws -> String? {
        try await client.call(ServiceClient.root, "Service", "ReadAlias", [.string(name)]).first?.asObjectPath
      }
      #expect(try await alias("default") == ServiceClient.login)
      #expect(try await alias("other") == "/")
      let label = "org.freedesktop.Secret.Collection.Label"
      let made = try await client.call(
        ServiceClient.root, "Service", "CreateCollection", [.dictionary([label: .string("Büro")]), .string("office")])
      let office = try #require(made.first?.asObjectPath)
      #expect(office == "\(ServiceClient.root)/collection/B_c3_bcro")
      #expect(made.last?.asObjectPath == "/")
      try await client.signal("CollectionCreated", of: ServiceClient.root)
      #expect(try await alias("office") == office)
      // The same alias gives the same collection, and the same label a new one, whichever property sets it.
      let again = try await client.call(
        ServiceClient.root, "Service", "CreateCollection", [.dictionary([:]), .string("office")])
      #expect(again.first?.asObjectPath == office)
      #expect(try await client.property(office, "Collection", "Label") == .string("Büro"))
      _ = try await client.call(
        ServiceClient.root, "Service", "CreateCollection", [.dictionary([label: .string("Werk")]), .string("office")])
      #expect(try await client.property(office, "Collection", "Label") == .string("Werk"), "its properties are set")
      try await client.set(office, "Collection", "Label", .string("Büro"))
      let before = try await client.property(ServiceClient.root, "Service", "Collections")
      let wrong = [BusValue.dictionary([label: .string("Werk")]), .string("../x")]
      #expect(await client.error(ServiceClient.root, "Service", "CreateCollection", wrong) == "InvalidArgs")
      #expect(try await client.property(ServiceClient.root, "Service", "Collections") == before)
      let itemLabel = "org.freedesktop.Secret.Item.Label"
      let other = try await client.call(
        ServiceClient.root, "Service", "CreateCollection", [.dictionary([itemLabel: .string("Büro")]), .string("")])
      #expect(other.first?.asObjectPath == "\(office)_2")
      try await client.call(
        ServiceClient.root, "Service", "SetAlias", [.string("default"), .objectPath(office)])
      #expect(try await alias("default") == office)
      let item = try await client.create(
        "s", in: "\(ServiceClient.root)/aliases/default", label: "l", ["a": "b"], session: session)
      #expect(item.hasPrefix("\(office)/"))
      try await client.signal("ItemCreated", of: office)
      #expect(try await client.property(office, "Collection", "Items").asArray == [.objectPath(item)])
      #expect(try await client.property(office, "Collection", "Label") == .string("Büro"))
      try await client.set(office, "Collection", "Label", .string("Office"))
      #expect(try await client.property(office, "Collection", "Label") == .string("Office"))
      #expect(try await client.property(office, "Collection", "Locked") == .boolean(false))
      let created = try #require(try await client.property(office, "Collection", "Created").asUInt64)
      #expect(created > 1_700_000_000)
      let all = try #require(try await client.property(ServiceClient.root, "Service", "Collections").asArray)
      #expect(
        Set(all.compactMap(\.asObjectPath)) == [
          ServiceClient.login, "\(ServiceClient.root)/collection/session", office, "\(office)_2",
        ])
      try await client.call(office, "Collection", "Delete")
      try await client.signal("CollectionDeleted", of: ServiceClient.root)
      #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "NoSuchObject")
      #expect(try await client.search(["a": "b"]).unlocked.isEmpty)
      #expect(try await alias("default") == ServiceClient.login)
    }
  }

  @Test("a Secret Service item is replaced only on request, and if all attributes are the same")
  func replacing() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let one = try await client.create("1", label: "l", ["a": "b", "c": "d"], session: session)
      let two = try await client.create("2", label: "l", ["a": "b"], replace: true, session: session)
      #expect(one != two)
      let three = try await client.create("3", label: "new", ["a": "b"], type: "x/y", replace: true, session: session)
      #expect(three == two)
      #expect(try await client.secret(two, session: session) == ("3", "x/y"))
      #expect(try await client.property(two, "Item", "Label") == .string("new"))
      let four = try await client.create("4", label: "l", ["a": "b"], session: session)
      #expect(four != two)
      #expect(try await client.search(["a": "b"]).unlocked.sorted() == [one, two, four].sorted())
      #expect(try await client.search(["a": "b", "c": "d"]).unlocked == [one])
      #expect(try await client.search(["a": ""]).unlocked.isEmpty)
      #expect(try await client.search(["c": "d", "e": ""]).unlocked.isEmpty)
      #expect(try await client.search([:]).unlocked.count == 3)
    }
  }

  @Test("SetSecret changes the secret and its content type, and nothing else, with a rule and without one")
  func setSecret() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      for label in ["Open", "Gated"] {
        let item = try await client.create("old", label: label, ["of": label], session: session)
        if label == "Gated" { try await service.gate(label, .currentSet) }
        for type in ["application/json", "text/plain"] {
          try await client.call(item, "Item", "SetSecret", [ServiceClient.structure("new", type, session)])
        }
        let found = try await client.search(["of": label])
        #expect(found.unlocked == (label == "Open" ? [item] : []))
        #expect(found.locked == (label == "Gated" ? [item] : []))
        #expect(try await client.property(item, "Item", "Label").asString == label)
        #expect(service.agent.prompts.isEmpty)
        let secret = try await client.secret(item, session: session)
        #expect(secret == ("new", "text/plain"))
      }
    }
  }

  @Test("SetSecret does not restore an item that is deleted at the same time", arguments: [false, true])
  func setSecretOfDeleted(gated: Bool) async throws {
    try await RunningSecretService.with { service in
      let (one, other) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await one.plainSession()
      for round in 0..<30 {
        let item = try await one.create("old", label: "\(round)", ["round": "\(round)"], session: session)
        if gated { try await service.gate("\(round)", .currentSet) }
        let secret = ServiceClient.structure("new", "text/plain", session)
        // Both calls look for the item, then both change it.
        async let deleted = other.error(item, "Item", "Delete")
        if round % 3 > 0 { try await Task.sleep(for: .microseconds(100 * round)) }
        let set = await one.error(item, "Item", "SetSecret", [secret])
        #expect([nil, "NoSuchObject"].contains(set))
        #expect(await deleted == nil)
        let left = try await one.search([:])
        #expect(left.unlocked.isEmpty && left.locked.isEmpty, "round \(round)")
      }
    }
  }

  @Test("GetSecrets returns the secrets of all existing items")
  func several() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let one = try await client.create("1", label: "l", ["a": "1"], session: session)
      let two = try await client.create("2", label: "l", ["a": "2"], session: session)
      #expect(try await service.secrets(of: [one, two, "\(ServiceClient.login)/none"]) == ["1", "2"])
    }
  }

  @Test("GetSecrets returns the open items of any collection, and waits for nobody")
  func openSecrets() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let made = try await client.call(
        ServiceClient.root, "Service", "CreateCollection",
        [.dictionary(["org.freedesktop.Secret.Collection.Label": .string("Mine")]), .string("")])
      let mine = try #require(made.first?.asObjectPath)
      var paths: [String] = []
      for number in 0..<70 {
        paths.append(
          try await client.create(
            "\(number)", in: number % 2 == 0 ? mine : ServiceClient.login, label: "l\(number)", ["n": "\(number)"],
            session: session))
      }
      try await service.gate("l3", .presence, .session)
      try await service.gate("l4", .presence)
      _ = try await client.change("Lock", [paths[5]])
      let all = paths + ["\(mine)/none", "\(ServiceClient.root)/collection/none/none"]
      func secrets() async throws -> Set<Int> { Set(try await service.secrets(of: all).compactMap(Int.init)) }
      let open = Set(0..<70).subtracting([3, 4, 5])
      #expect(try await secrets() == open)
      #expect(service.agent.prompts.isEmpty)
      // A touch for one item, by the same program.
      #expect(try await service.secrets(of: [paths[3]]) == ["3"])
      #expect(try await secrets() == open.union([3]))
      #expect(service.agent.prompts.count == 1)
      _ = try await client.change("Lock", [mine])
      #expect(try await secrets() == open.filter { $0 % 2 == 1 })
    }
  }

  @Test("GetSecrets returns a repeated item once, and refuses more than 16 MiB in total")
  func secretsLimit() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let large = String(repeating: "x", count: 1 << 20)
      var paths: [String] = []
      for number in 1...17 {
        paths.append(try await client.create(large, label: "l", ["n": "\(number)"], session: session))
      }
      #expect(try await service.secrets(of: Array(repeating: paths[0], count: 70)) == [large])
      let all: [BusValue] = [.array(of: "o", paths.map { .objectPath($0) }), .objectPath(session)]
      #expect(await client.error(ServiceClient.root, "Service", "GetSecrets", all) == "LimitsExceeded")
      #expect(try await client.secret(paths[16], session: session).text == large)
    }
  }

  @Test("vault items that D-Bus cannot carry are left out, and the Secret Service continues")
  func foreignItems() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      func stored(_ name: String, in collection: String = "login", label: String = "l", _ attributes: [String: String])
        -> NewItem
      {
        SecretServiceItem.item(named: name, in: collection, label: label, attributes: attributes, access: .none)
      }
      try await service.withStore { store in
        for foreign in [
          stored("a b", ["a": "b"]), stored("a", in: "no/collection", ["a": "b"]), stored("", ["a": "b"]),
          stored("one", label: "l\0", ["a": "b"]), stored("two", ["a": "b", "c\0": "d"]),
          stored("three", ["a": "b", "c": "\0"]),
          SecretServiceFolder(.collection, "a b").item, SecretServiceFolder(.collection, "fine", label: "\0").item,
        ] {
          _ = try await store.put(foreign, secret: SharedSecret(SecretBytes(count: 0)))
        }
      }
      #expect(try await client.search(["a": "b"]).unlocked == [item])
      let items = try await client.property(ServiceClient.login, "Collection", "Items")
      #expect(items.asArray?.compactMap(\.asObjectPath) == [item])
      let collections = try await client.property(ServiceClient.root, "Service", "Collections")
      #expect(collections.asArray?.contains(.objectPath(ServiceClient.login)) == true)
      #expect(collections.asArray?.contains { $0.asObjectPath?.contains("fine") == true } == false)
    }
  }

  @Test("a Secret Service collection or item that a program locks stays closed until a touch")
  func locking() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      for target in [ServiceClient.login, item] {
        #expect(try await client.change("Lock", [target]).done == [target])
        #expect(await client.error(item, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
        #expect(try await client.search(["a": "b"]).locked == [item])
        #expect(try await client.property(item, "Item", "Locked") == .boolean(true))
        let unlocking = try await client.change("Unlock", [target])
        #expect(unlocking.done.isEmpty)
        let shown = try await client.show(unlocking.prompt)
        #expect(shown == (false, [target]))
        #expect(try await client.secret(item, session: session).text == "s")
      }
      #expect(try await client.property(ServiceClient.login, "Collection", "Locked") == .boolean(false))
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("unlocking an item of a locked collection unlocks the collection")
  func lockedCollectionOfItem() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      _ = try await client.change("Lock", [ServiceClient.login])
      let unlocking = try await client.change("Unlock", [item])
      #expect(try await client.show(unlocking.prompt) == (false, [item]))
      #expect(try await client.secret(item, session: session).text == "s")
      #expect(try await client.property(ServiceClient.login, "Collection", "Locked") == .boolean(false))
      #expect(service.agent.prompts.first?.contains("unlock “Login”") == true)
    }
  }

  @Test("PropertiesChanged announces labels, attributes, locks, items and collections")
  func changedProperties() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let (client, other) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let session = try await client.plainSession()
      let login = ServiceClient.login
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      #expect(try await other.changed("Items", of: login) == .array(of: "o", [.objectPath(item)]))
      try await client.set(item, "Item", "Label", .string("new"))
      #expect(try await other.changed("Label", of: item) == .string("new"))
      try await client.set(item, "Item", "Attributes", .texts(["c": "d"]))
      #expect(try await other.changed("Attributes", of: item) == .texts(["c": "d"]))
      try await client.create("t", label: "newer", ["c": "d"], replace: true, session: session)
      #expect(try await other.changed("Label", of: item) == .string("newer"))
      try await client.set(login, "Collection", "Label", .string("Main"))
      #expect(try await other.changed("Label", of: login) == .string("Main"))
      for target in [login, item] {
        _ = try await client.change("Lock", [target])
        #expect(try await other.changed("Locked", of: target) == .boolean(true))
        _ = try await client.show(try await client.change("Unlock", [target]).prompt)
        #expect(try await other.changed("Locked", of: target) == .boolean(false))
      }
      try await client.call(item, "Item", "Delete")
      #expect(try await other.changed("Items", of: login) == .array(of: "o", []))
      let made = try await client.call(
        ServiceClient.root, "Service", "CreateCollection", [.dictionary([:]), .string("")])
      let collection = try #require(made.first)
      let listed = try await other.changed("Collections", of: ServiceClient.root).asArray
      #expect(listed?.contains(collection) == true)
      try await client.call(collection.asObjectPath ?? "", "Collection", "Delete")
      #expect(try await other.changed("Collections", of: ServiceClient.root).asArray?.contains(collection) == false)
    }
  }

  @Test("PropertiesChanged contains a list of up to a thousand items, and no longer one")
  func longList() async throws {
    try await RunningSecretService.with { service in
      try await service.withStore { store in
        for number in 1...1_000 {
          let item = SecretServiceItem.item(
            named: "i\(number)", in: "login", label: "l", attributes: [:], access: AccessControl(.none))
          _ = try await store.put(item, secret: SharedSecret(SecretBytes(count: 1)))
        }
      }
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      // Changes within a short time are signalled together.
      try await Task.sleep(for: .seconds(1))
      try await client.call(item, "Item", "Delete")
      #expect(try await client.changed("Items", of: ServiceClient.login).asArray?.count == 1_000)
    }
  }

  @Test("items in the Secret Service's session collection are removed when the service ends")
  func sessionCollection() async throws {
    try await PrivateBus.with { bus in
      try await TestStore.enrolled { store in
        var items: [String] = []
        for isFirst in [true, false] {
          let environment = ["DBUS_SESSION_BUS_ADDRESS": bus.address]
          try await RunningAgent.with(store, environment: environment, started: "serves") { _ in
            ["--secret-service"]
          } _: { _ in
            let client = try await ServiceClient(bus)
            guard isFirst else {
              #expect(try await client.search([:]).unlocked == [items[1]])
              return
            }
            let session = try await client.plainSession()
            let alias = try await client.call(ServiceClient.root, "Service", "ReadAlias", [.string("session")])
            #expect(alias.first?.asObjectPath == "\(ServiceClient.root)/collection/session")
            for collection in ["\(ServiceClient.root)/aliases/session", ServiceClient.login] {
              items.append(try await client.create("s", in: collection, label: "l", ["a": "b"], session: session))
            }
            #expect(try await client.secret(items[0], session: session).text == "s")
          }
        }
      }
    }
  }

  @Test("the Secret Service refuses wrong paths, members and types with their own errors, and continues")
  func refusals() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      for path in ["/", "/org/freedesktop/secrets/", "\(ServiceClient.root)/collection/none", "/org/freedesktop/other"]
      {
        let error = await client.error(path, "Collection", "Delete")
        #expect(
          ["NoSuchObject", "UnknownMethod", "malformed", "system(22)"].contains(error), "\(path): \(error ?? "-")")
      }
      #expect(await client.error(ServiceClient.root, "Service", "Unlock", [.string("x")]) == "UnknownMethod")
      #expect(await client.error(ServiceClient.root, "Item", "GetSecret", [.objectPath(session)]) == "UnknownMethod")
      #expect(await client.error(item, "Item", "Nothing") == "UnknownMethod")
      let set = await client.error(
        item, Self.properties, "Set",
        [.string("org.freedesktop.Secret.Item"), .string("Label"), .variant(.uint32(1))])
      #expect(set == "InvalidArgs")
      #expect(
        await client.error(
          ServiceClient.root, "Service", "SetAlias", [.string("../x"), .objectPath(ServiceClient.login)])
          == "InvalidArgs")
      // Calls with unexpected types are answered, too.
      let strange = await client.error(
        ServiceClient.root, "Service", "Unlock",
        [.array(of: "{os}", [.entry(key: .objectPath("/"), .string(""))])])
      #expect(strange == "InvalidArgs")
      let long = String(repeating: "x", count: (1 << 20) + 1)
      #expect(
        await client.error(
          ServiceClient.login, "Collection", "CreateItem",
          [.dictionary([:]), ServiceClient.structure(long, "text/plain", session), .boolean(false)]) == "InvalidArgs")
      #expect(try await client.secret(item, session: session).text == "s")
      let xml = try await client.call(item, "org.freedesktop.DBus.Introspectable", "Introspect").first?.asString
      #expect(xml?.contains("\"GetSecret\"") == true)
    }
  }

  @Test("errors of Secret Service properties have the names of the D-Bus specification")
  func propertyErrors() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      func error(_ path: String, _ member: String, _ interface: String, _ others: BusValue...) async -> String? {
        await client.error(path, Self.properties, member, [.string(interface)] + others)
      }
      let (own, label) = ("org.freedesktop.Secret.Item", BusValue.string("Label"))
      #expect(await error(item, "Get", own, label) == nil)
      #expect(await error(item, "Get", "", label) == nil, "the empty text stands for the interface of the object")
      #expect(await error(item, "Get", "x", label) == "UnknownInterface")
      #expect(await error(item, "GetAll", "org.freedesktop.Secret.Collection") == "UnknownInterface")
      #expect(await error(item, "GetAll", Self.properties) == nil)
      #expect(await error(item, "Get", own, .string("x")) == "UnknownProperty")
      #expect(await error(item, "Set", "x", label, .variant(.string("y"))) == "UnknownInterface")
      #expect(await error(item, "Set", own, .string("x"), .variant(.string("y"))) == "UnknownProperty")
      #expect(await error(item, "Set", own, .string("Locked"), .variant(.boolean(true))) == "PropertyReadOnly")
      #expect(await error(item, "Set", own, label, .variant(.uint32(1))) == "InvalidArgs")
      #expect(await error("\(item)x", "Set", own, .string("Locked"), .variant(.boolean(true))) == "NoSuchObject")
      #expect(await error(session, "GetAll", "org.freedesktop.Secret.Session") == nil)
      #expect(await error("\(session)x", "GetAll", "org.freedesktop.Secret.Session") == "NoSession")
      #expect(
        await error("\(ServiceClient.root)/prompt/x", "GetAll", "org.freedesktop.Secret.Prompt") == "NoSuchObject")
    }
  }

  @Test("a second Secret Service reports that the name on the bus is taken")
  func second() async throws {
    try await RunningSecretService.with { service in
      let result = try await Invocation(
        program: "whorl-agent",
        arguments: ["--secret-service", "--store", service.store.directory] + service.store.reader,
        environment: ["DBUS_SESSION_BUS_ADDRESS": service.bus.address]
      ).run()
      #expect(result.status != 0)
      #expect(result.diagnostics.contains("org.freedesktop.secrets has another owner"))
    }
  }
}

/// A client's side of an encrypted session.
final class OwnKey {
  private let exchange: Oakley2

  init() throws { exchange = try Oakley2() }

  var publicKey: [UInt8] { exchange.publicKey }

  func decrypted(_ box: [UInt8], iv: [UInt8], from peer: [UInt8]) throws -> [UInt8] {
    let shared = try exchange.sharedSecret(with: SecretBytes(copying: peer.span))
    let key = try KDF.hkdf(key: shared, info: [], count: 16)
    let secret = try AESCBC.decrypt(SecretBytes(copying: box.span), key: key, iv: SecretBytes(copying: iv.span))
    return secret.withUnsafeBytes { Array($0) }
  }
}
