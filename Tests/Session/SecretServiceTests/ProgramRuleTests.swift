import Glibc
import Primitives
import ProgramDriver
import SDBus
import SecretModel
import Testing
import Whorl

@Suite("Rules of programs in the Secret Service", .serialized)
struct ProgramRuleTests {
  @Test("a program with the rule `none`, or an unidentified one, reads Secret Service items without a prompt")
  func open() async throws {
    try await RunningSecretService.with { service in
      try await service.storeWithTool("of mail", label: "Mail", "name", "Mail")
      try await service.gate(program: try executable(), .none)
      // A collection's rule applies to new items, not to programs.
      let collection = SecretServiceFolder(.collection, "login", label: "Login", access: .anyFinger).item
      try await service.withStore { store in
        _ = try await store.put(collection, secret: SharedSecret(SecretBytes(count: 0)))
      }
      let client = try await ServiceClient(service.bus)
      #expect(try await client.search(["name": "Mail"]).unlocked.count == 1)
      // Reads with the connection of a process that has ended.
      let orphan = """
        import os, time
        from secretstorage import dbus_init, get_default_collection
        connection = dbus_init()
        if os.fork(): os._exit(0)
        time.sleep(0.3)
        print(next(get_default_collection(connection).search_items({'name': 'Mail'})).get_secret().decode(), end='')
        """
      let read = try await service.python(orphan)
      #expect(read.text == "of mail", "\(read.failure)")
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("a rule that a program connected to the Secret Service gets applies after two seconds at most")
  func later() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let mail = try await client.create("of mail", label: "Mail", ["name": "Mail"], session: session)
      #expect(try await client.secret(mail, session: session).text == "of mail")
      try await service.gate(program: try executable(), .anyFinger)
      try await Task.sleep(for: .milliseconds(2_100))
      #expect(try await client.search(["name": "Mail"]).locked == [mail])
    }
  }

  @Test("a program with a rule stores Secret Service items with it, and others with the collection's rule")
  func stored() async throws {
    try await RunningSecretService.with { service in
      try await service.gate(program: "/usr/bin/secret-tool", .currentSet)
      let collection = SecretServiceFolder(.collection, "login", label: "Login", access: .anyFinger).item
      try await service.withStore { store in
        _ = try await store.put(collection, secret: SharedSecret(SecretBytes(count: 0)))
      }
      try await service.storeWithTool("s", label: "of the tool", "name", "a")
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      try await client.create("s", label: "of another", ["name": "b"], session: session)
      let rules = try await service.withStore { store in
        try await store.items(SecretServiceItem.search()).compactMap(SecretServiceItem.init)
          .reduce(into: [:]) { $0[$1.label] = $1.access }
      }
      #expect(rules == ["of the tool": AccessControl(.currentSet), "of another": AccessControl(.anyFinger)])
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
