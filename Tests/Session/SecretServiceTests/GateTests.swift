import Glibc
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("Items of the Secret Service with a rule", .serialized)
struct GateTests {
  /// An item behind a finger.
  private func gated(_ service: RunningSecretService, _ client: ServiceClient, _ label: String = "Bank") async throws
    -> String
  {
    let session = try await client.plainSession()
    let item = try await client.create("of \(label)", label: label, ["name": label], session: session)
    try await service.gate(label, .currentSet)
    return item
  }

  @Test("items with a rule are found as locked, but report themselves unlocked, and Unlock asks once for all")
  func unlock() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let (bank, mail) = (try await gated(service, client), try await gated(service, client, "Mail"))
      let session = try await client.plainSession()
      #expect(try await client.search(["name": "Bank"]).locked == [bank])
      #expect(try await client.property(bank, "Item", "Locked") == .boolean(false))
      #expect(try await client.property(ServiceClient.login, "Collection", "Locked") == .boolean(false))
      let unlocking = try await client.change("Unlock", [bank, mail])
      #expect(unlocking.done.isEmpty)
      let shown = try await client.show(unlocking.prompt)
      #expect(shown == (false, [bank, mail]))
      #expect(try await client.search(["name": "Bank"]).unlocked == [bank])
      #expect(try await client.secret(bank, session: session).text == "of Bank")
      #expect(try await client.secret(mail, session: session).text == "of Mail")
      #expect(service.agent.prompts.count == 1)
      #expect(service.agent.prompts[0].contains(" wants to read “Bank”, “Mail”. "))
      // The prompt is gone.
      #expect(await client.error(unlocking.prompt, "Prompt", "Prompt", [.string("")]) == "NoSuchObject")
    }
  }

  @Test("secret-tool clear skips items with a rule as locked, and a program that names an item deletes it")
  func deleted() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      _ = try await service.run("/usr/bin/secret-tool", "clear", "name", "Bank")
      #expect(try await client.search(["name": "Bank"]).locked == [bank])
      try await client.call(bank, "Item", "Delete")
      #expect(try await client.search(["name": "Bank"]).locked.isEmpty)
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("GetSecret without Unlock waits for a touch if the item has a rule, and a program's reads share prompts")
  func waits() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let client = try await ServiceClient(service.bus)
      var items: [String] = []
      for number in 1...4 { items.append(try await gated(service, client, "Item \(number)")) }
      let session = try await client.plainSession()
      let texts = try await withThrowingTaskGroup { group in
        for item in items { group.addTask { try await client.secret(item, session: session).text } }
        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
      }
      #expect(texts == ["of Item 1", "of Item 2", "of Item 3", "of Item 4"])
      // The first read prompts at once, and the others while it waits.
      #expect(service.agent.prompts.count <= 2)
    }
  }

  @Test("a touch for a program's Secret Service read opens nothing for another, and ends after ten seconds")
  func separate() async throws {
    try await RunningSecretService.with([.right, .wrong, .wrong, .wrong]) { service in
      let (one, two) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let bank = try await gated(service, one)
      let (mine, theirs) = (try await one.plainSession(), try await two.plainSession())
      #expect(try await one.secret(bank, session: mine).text == "of Bank")
      #expect(try await one.search(["name": "Bank"]).unlocked == [bank])
      #expect(try await two.search(["name": "Bank"]).locked == [bank])
      #expect(await two.error(bank, "Item", "GetSecret", [.objectPath(theirs)]) == "IsLocked")
      var isGranted = true
      for _ in 0..<300 where isGranted {
        try await Task.sleep(for: .milliseconds(100))
        isGranted = try await one.search(["name": "Bank"]).locked.isEmpty
      }
      #expect(!isGranted)
    }
  }

  @Test("a Secret Service read without a touch ends after 20 seconds as locked, and the desktop keeps a note")
  func untouched() async throws {
    try await RunningSecretService.with { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      let session = try await client.plainSession()
      let item = BusTarget(
        destination: "org.freedesktop.secrets", path: bank, interface: "org.freedesktop.Secret.Item")
      // The vault itself waits for a minute.
      await #expect {
        _ = try await client.connection.call(item, "GetSecret", [.objectPath(session)], within: .seconds(40))
      } throws: { error in
        if case BusError.remote("org.freedesktop.Secret.Error.IsLocked", _, _)? = error as? BusError {
          true
        } else {
          false
        }
      }
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      let left = try await desktop.first(with: " wanted to read “Bank”; nobody answered.")
      #expect(left.number == desktop.shown[0].number, "in the place of the prompt")
      #expect(left.title == "Not answered" && left.actions.isEmpty && left.urgency == 1 && !left.isTransient)
      #expect(desktop.closed.isEmpty)
      // Closing it later cancels nothing, and the next read prompts.
      desktop.dismiss(left.number)
      async let next: Void = service.gateIsAsked(count: 2)
      _ = try? await client.connection.call(item, "GetSecret", [.objectPath(session)], within: .seconds(2))
      try await next
    }
  }

  @Test("a Secret Service prompt ends if it is dismissed or its program leaves, and is unknown to other programs")
  func dismissed() async throws {
    try await RunningSecretService.with { service in
      let (one, two) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let bank = try await gated(service, one)
      let prompt = try await one.change("Unlock", [bank]).prompt
      #expect(await two.error(prompt, "Prompt", "Prompt", [.string("")]) == "NoSuchObject")
      #expect(await two.error(prompt, "Prompt", "Dismiss") == "NoSuchObject")
      try await one.call(prompt, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { $0.contains { $0.contains("to read “Bank”") } }
      try await one.call(prompt, "Prompt", "Dismiss")
      #expect(try await one.completed(prompt) == (true, []))
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      // One that was not shown yet.
      let other = try await one.change("Unlock", [bank]).prompt
      try await one.call(other, "Prompt", "Dismiss")
      #expect(try await one.completed(other) == (true, []))
      let last = try await two.change("Unlock", [bank]).prompt
      try await two.call(last, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { lines in lines.count { $0.contains(". Swipe the reader") } == 2 }
      two.connection.close()
      try await service.agent.waits { lines in lines.count { $0.contains("refused to read “Bank”") } == 2 }
    }
  }

  @Test("a Secret Service read right after a refusal does not ask again, and a later read does")
  func refused() async throws {
    try await RunningSecretService.with([.wrong, .wrong, .wrong, .right]) { service in
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      let session = try await client.plainSession()
      let unlocking = try await client.change("Unlock", [bank])
      let shown = try await client.show(unlocking.prompt)
      #expect(shown == (true, []))
      #expect(await client.error(bank, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
      #expect(service.agent.prompts.count == 3)
      var text: String?
      for _ in 0..<300 where text == nil {
        try await Task.sleep(for: .milliseconds(100))
        text = try? await client.secret(bank, session: session).text
      }
      #expect(text == "of Bank")
    }
  }

  @Test("a prompt's notification is removed when the program that asked has left the bus")
  func leaves() async throws {
    try await RunningSecretService.with { service in
      let desktop = try await DesktopStandIn(on: service.bus)
      defer { desktop.close() }
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      let prompt = try await client.change("Unlock", [bank]).prompt
      try await client.call(prompt, "Prompt", "Prompt", [.string("")])
      let shown = try await desktop.first()
      client.connection.close()
      try await desktop.waitUntilClosed(shown.number)
    }
  }

  @Test("searches, labels and GetSecrets of several items never wait for a person, even if the items have a rule")
  func silent() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let (bank, mail) = (try await gated(service, client), try await gated(service, client, "Mail"))
      #expect(try await Set(client.search([:]).locked) == [bank, mail])
      let found = try await client.call(
        ServiceClient.login, "Collection", "SearchItems", [.texts(["name": "Mail"])])
      #expect(found == [.array(of: "o", [.objectPath(mail)])])
      #expect(try await client.property(bank, "Item", "Label") == .string("Bank"))
      #expect(try await service.secrets(of: [bank, mail]) == [])
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("reads of an item with a rule are refused without a prompt if a program has locked the collection")
  func lockedCollection() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      let session = try await client.plainSession()
      _ = try await client.change("Lock", [ServiceClient.login])
      #expect(await client.error(bank, "Item", "GetSecret", [.objectPath(session)]) == "IsLocked")
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("a Secret Service item's rule is kept when a program replaces the secret, which needs no touch")
  func replaced() async throws {
    try await RunningSecretService.with([.right]) { service in
      let client = try await ServiceClient(service.bus)
      let bank = try await gated(service, client)
      let session = try await client.plainSession()
      let again = try await client.create("new", label: "Bank", ["name": "Bank"], replace: true, session: session)
      #expect(again == bank)
      #expect(service.agent.prompts.isEmpty)
      #expect(try await client.search(["name": "Bank"]).locked == [bank])
      #expect(try await client.secret(bank, session: session).text == "new")
    }
  }

  @Test("a touch once per session lets its program read the item again, also on another connection")
  func session() async throws {
    try await RunningSecretService.with([.right]) { service in
      try await service.storeWithTool("s", label: "Chat", "name", "Chat")
      try await service.gate("Chat", .anyFinger, .session)
      for _ in 0..<2 {
        #expect(try await service.run("/usr/bin/secret-tool", "lookup", "name", "Chat").text == "s")
      }
      #expect(service.agent.prompts.count == 1)
      // Another program is asked for itself.
      let client = try await ServiceClient(service.bus)
      #expect(try await client.search(["name": "Chat"]).unlocked.isEmpty)
    }
  }

  @Test("a new rule for a Secret Service item or for a program ends its grants for the session")
  func changedRules() async throws {
    try await RunningSecretService.with([.right, .right, .right, .right]) { service in
      let tool = "/usr/bin/secret-tool"
      for name in ["Chat", "Mail"] { try await service.storeWithTool("of \(name)", label: name, "name", name) }
      func prompts(reading name: String) async throws -> Int {
        #expect(try await service.run(tool, "lookup", "name", name).text == "of \(name)")
        return service.agent.prompts.count
      }
      try await service.gate("Chat", .anyFinger, .session)
      #expect(try await prompts(reading: "Chat") == 1)
      // Replace the item, since changing only its rule needs a touch.
      try await service.withStore { store in
        let found = try await store.items(SecretServiceItem.search(["name": "Chat"])).compactMap(SecretServiceItem.init)
        let chat = try #require(found.first)
        let brief = SecretServiceItem.item(
          named: chat.name, in: chat.collection, label: chat.label, attributes: chat.attributes,
          access: chat.access)
        _ = try await store.put(brief, secret: SharedSecret(SecretBytes(copying: Array("of Chat".utf8).span)))
      }
      #expect(try await prompts(reading: "Chat") == 2)
      try await service.gate(program: tool, .anyFinger, .session)
      #expect(try await prompts(reading: "Mail") == 3)
      #expect(try await prompts(reading: "Mail") == 3)
      try await service.gate(program: tool, .presence, .session)
      #expect(try await prompts(reading: "Mail") == 4)
    }
  }

  @Test("Unlock asks for the finger of the item's rule, and then for the passcode of the program's rule")
  func fingerAndPasscode() async throws {
    let script = """
      #!/bin/sh
      echo OK
      while read -r word rest; do
        case $word in GETPIN) mkdir "${PATH%%:*}/asked"; echo "D \(TestStore.passcode)" ;; esac
        echo OK
      done
      """
    // No finger for the first prompt.
    try await RunningSecretService.with([.signal(0), .right], pinentry: script) { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let bank = try await gated(service, client)
      let plain = try await client.create("plain", label: "Plain", ["name": "Plain"], session: session)
      try await service.gate(program: try executable(), .passcode)
      // Rules are cached for two seconds.
      try await Task.sleep(for: .milliseconds(2_100))
      let asked = "\(service.store.folder)/asked"
      let first = try await client.change("Unlock", [bank, plain]).prompt
      try await client.call(first, "Prompt", "Prompt", [.string("")])
      try await service.agent.waits { $0.contains { $0.contains(". Swipe the reader") } }
      #expect(access(asked, F_OK) != 0, "the passcode comes after the finger")
      try await client.call(first, "Prompt", "Dismiss")
      #expect(try await client.completed(first) == (true, []))
      try await service.agent.waits { $0.contains { $0.contains("refused to read “Bank”") } }
      let shown = try await client.show(try await client.change("Unlock", [bank, plain]).prompt)
      #expect(shown == (false, [bank, plain]), "\(service.agent.lines)")
      #expect(access(asked, F_OK) == 0)
      #expect(try await client.secret(plain, session: session).text == "plain")
    }
  }

  @Test("a program with a rule needs a finger for all Secret Service reads, and other programs do not")
  func program() async throws {
    try await RunningSecretService.with([.right, .right, .wrong, .wrong, .wrong]) { service in
      let tool = "/usr/bin/secret-tool"
      try await service.storeWithTool("of mail", label: "Mail", "name", "Mail")
      #expect(try await service.run(tool, "lookup", "name", "Mail").text == "of mail")
      #expect(service.agent.prompts.isEmpty)
      try await service.gate(program: tool, .anyFinger)
      #expect(try await service.run(tool, "lookup", "name", "Mail").text == "of mail")
      #expect(service.agent.prompts.count == 1)
      #expect(service.agent.prompts[0].hasSuffix(" (program: \(tool))"), "\(service.agent.prompts)")
      // Another program does not have the rule.
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let mail = try #require(try await client.search(["name": "Mail"]).unlocked.first)
      #expect(try await client.secret(mail, session: session).text == "of mail")
      // Every connection is asked for itself.
      #expect(try await service.run(tool, "lookup", "name", "Mail").text == "of mail")
      #expect(service.agent.prompts.count == 2)
      let refused = try await service.run(tool, "lookup", "name", "Mail")
      #expect(refused.status != 0 && refused.text.isEmpty)
    }
  }

  @Test("an unidentified program needs a finger for Secret Service reads once any program has a rule")
  func unknownProgram() async throws {
    try await RunningSecretService.with([.right]) { service in
      try await service.storeWithTool("of mail", label: "Mail", "name", "Mail")
      // Reads with the connection of a process that has ended.
      let orphan = """
        import os, time
        from secretstorage import dbus_init
        connection = dbus_init()
        if os.fork(): os._exit(0)
        time.sleep(0.3)
        from secretstorage import get_default_collection
        item = next(get_default_collection(connection).search_items({'name': 'Mail'}))
        item.unlock()
        print(item.get_secret().decode(), end='')
        """
      let free = try await service.python(orphan)
      #expect(free.text == "of mail", "\(free.failure)")
      #expect(service.agent.prompts.isEmpty)
      try await service.gate(program: "/usr/bin/true", .anyFinger)
      let gated = try await service.python(orphan)
      #expect(gated.text == "of mail", "\(gated.failure)")
      #expect(service.agent.prompts.count == 1)
      #expect(service.agent.prompts.first?.contains(", unverified") == true, "\(service.agent.prompts)")
    }
  }

  @Test("a program's rule applies to Secret Service changes and to reads without Unlock, on each connection")
  func programWithoutUnlock() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      let (one, two) = (try await ServiceClient(service.bus), try await ServiceClient(service.bus))
      let (first, second) = (try await one.plainSession(), try await two.plainSession())
      let mail = try await one.create("of mail", label: "Mail", ["name": "Mail"], session: first)
      try await service.gate(program: try executable(), .anyFinger)
      // Rules are cached for two seconds.
      try await Task.sleep(for: .milliseconds(2_100))
      #expect(try await one.search(["name": "Mail"]).locked == [mail])
      #expect(try await service.secrets(of: [mail]) == ["of mail"], "another program")
      try await one.set(mail, "Item", "Label", .string("Post"))
      #expect(service.agent.prompts.count == 1)
      // The touch holds for ten seconds.
      #expect(try await one.search(["name": "Mail"]).unlocked == [mail])
      #expect(try await one.secret(mail, session: first).text == "of mail")
      #expect(service.agent.prompts.count == 1)
      #expect(try await two.secret(mail, session: second).text == "of mail")
      #expect(service.agent.prompts.count == 2)
    }
  }

  @Test("a program's rule with once per session asks once for all Secret Service reads, until something is locked")
  func programSession() async throws {
    try await RunningSecretService.with([.right, .right, .right]) { service in
      let tool = "/usr/bin/secret-tool"
      for name in ["Mail", "Chat"] { try await service.storeWithTool("of \(name)", label: name, "name", name) }
      try await service.gate(program: tool, .anyFinger, .session)
      for name in ["Mail", "Chat", "Mail"] {
        #expect(try await service.run(tool, "lookup", "name", name).text == "of \(name)")
      }
      #expect(service.agent.prompts.count == 1)
      let client = try await ServiceClient(service.bus)
      _ = try await client.change("Lock", [ServiceClient.login])
      _ = try await client.show(try await client.change("Unlock", [ServiceClient.login]).prompt)
      #expect(service.agent.prompts.count == 2)
      #expect(try await service.run(tool, "lookup", "name", "Chat").text == "of Chat")
      #expect(service.agent.prompts.count == 3)
    }
  }

  /// The path of this program, as the service reads it from the kernel.
  private func executable() throws -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemFailure("/proc/self/exe") }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }
}
