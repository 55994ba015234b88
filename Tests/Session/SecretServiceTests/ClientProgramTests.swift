import ProgramDriver
import SecretModel
import Testing
import Whorl

@Suite("Programs that use the Secret Service", .serialized)
struct ClientProgramTests {
  @Test("secret-tool stores, finds, replaces and removes secrets without a finger")
  func secretTool() async throws {
    try await RunningSecretService.with { service in
      try await service.storeWithTool("hunter2", label: "Mail", "service", "mail", "user", "alice")
      try await service.storeWithTool("other", label: "Other", "service", "mail", "user", "bob")
      let found = try await service.run("/usr/bin/secret-tool", "lookup", "service", "mail", "user", "alice")
      #expect(found.text == "hunter2")
      try await service.storeWithTool("hunter3", label: "Mail", "service", "mail", "user", "alice")
      let all = try await service.run("/usr/bin/secret-tool", "search", "--all", "service", "mail")
      #expect(all.text.contains("secret = hunter3\n"))
      #expect(!all.text.contains("hunter2"))
      #expect(all.text.contains("label = Other\n"))
      try await service.run("/usr/bin/secret-tool", "clear", "service", "mail", "user", "alice").mustSucceed()
      let gone = try await service.run("/usr/bin/secret-tool", "lookup", "service", "mail", "user", "alice")
      #expect(gone.status == 1)
      #expect(gone.output.isEmpty)
      #expect(service.agent.prompts.isEmpty)
    }
  }

  @Test("secretstorage of Python makes collections, and keeps content types and attributes")
  func secretStorage() async throws {
    try await RunningSecretService.with { service in
      let result = try await service.python(
        """
        import secretstorage
        bus = secretstorage.dbus_init()
        login = secretstorage.get_default_collection(bus)
        assert login.get_label() == 'Login', login.get_label()
        assert not login.is_locked()
        item = login.create_item('A label', {'name': 'value', 'other': ''}, b'\\x00\\xff binary', content_type='x/y')
        assert item.get_secret() == b'\\x00\\xff binary'
        assert item.get_secret_content_type() == 'x/y'
        assert item.get_attributes() == {'name': 'value', 'other': ''}, item.get_attributes()
        item.set_label('Another')
        item.set_attributes({'changed': 'yes'})
        item.set_secret(b'')
        again = next(secretstorage.search_items(bus, {'changed': 'yes'}))
        assert again.get_label() == 'Another' and again.get_secret() == b''
        assert not list(secretstorage.search_items(bus, {'name': 'value'}))
        work = secretstorage.create_collection(bus, 'Work, and more')
        work.create_item('In work', {'place': 'work'}, b'1')
        assert [i.get_label() for i in work.get_all_items()] == ['In work']
        assert not list(login.search_items({'place': 'work'}))
        assert 'Work, and more' in [c.get_label() for c in secretstorage.get_all_collections(bus)]
        work.delete()
        assert not list(secretstorage.search_items(bus, {'place': 'work'}))
        again.delete()
        print('fine')
        """)
      #expect(result.text == "fine\n", "\(result.diagnostics)")
    }
  }

  @Test("keyring of Python sets, gets and deletes passwords")
  func keyring() async throws {
    try await RunningSecretService.with { service in
      let result = try await service.python(
        """
        import keyring
        from keyring.backends import SecretService
        keyring.set_keyring(SecretService.Keyring())
        keyring.set_password('a service', 'alice', 'secret of alice')
        keyring.set_password('a service', 'alice', 'the next one')
        assert keyring.get_password('a service', 'alice') == 'the next one'
        assert keyring.get_credential('a service', None).username == 'alice'
        keyring.delete_password('a service', 'alice')
        assert keyring.get_password('a service', 'alice') is None
        print('fine')
        """)
      #expect(result.text == "fine\n", "\(result.diagnostics)")
    }
  }

  @Test("secret-tool waits for a finger if the item has a rule, and gets nothing for a wrong one")
  func gated() async throws {
    try await RunningSecretService.with([.right, .wrong, .wrong, .wrong]) { service in
      try await service.storeWithTool("behind a finger", label: "Bank", "service", "bank")
      try await service.gate("Bank", .currentSet)
      let found = try await service.run("/usr/bin/secret-tool", "lookup", "service", "bank")
      #expect(found.text == "behind a finger")
      #expect(
        service.agent.prompts.contains {
          $0 == "whorl-agent: secret-tool wants to read “Bank”. "
            + "Swipe the reader (virtual reader). (program: /usr/bin/secret-tool)"
        })
      // Each run is another connection, so a touch for one does not count for the next.
      let refused = try await service.run("/usr/bin/secret-tool", "lookup", "service", "bank")
      #expect(refused.output.isEmpty)
    }
  }

  @Test("keyring of Python waits for a finger if the item has a rule")
  func gatedKeyring() async throws {
    try await RunningSecretService.with([.right]) { service in
      let script = """
        import keyring
        from keyring.backends import SecretService
        keyring.set_keyring(SecretService.Keyring())
        """
      try await service.python("\(script)\nkeyring.set_password('bank', 'alice', 'behind a finger')").mustSucceed()
      try await service.gate("Password for 'alice' on 'bank'", .presence)
      let found = try await service.python("\(script)\nprint(keyring.get_password('bank', 'alice'))")
      #expect(found.text == "behind a finger\n", "\(found.diagnostics)")
      #expect(service.agent.prompts.count == 1)
    }
  }

  @Test("the proxy of sandboxed programs is not counted as one program, and gets no grant for the session")
  func proxy() async throws {
    try await RunningSecretService.with([.right, .right]) { service in
      try await service.storeWithTool("behind a finger", label: "Bank", "service", "bank")
      try await service.gate("Bank", .presence, .session)
      let proxy = "\(service.store.folder)/xdg-dbus-proxy"
      let copied = try await service.run("/bin/sh", "-c", "cp \"$(readlink -f /usr/bin/secret-tool)\" \(proxy)")
      #expect(copied.status == 0)
      for count in 1...2 {
        #expect(try await service.run(proxy, "lookup", "service", "bank").text == "behind a finger")
        #expect(service.agent.prompts.count == count)
        #expect(service.agent.prompts.last?.contains("(program: a sandboxed program behind process ") == true)
      }
    }
  }

  @Test("a prompt for a script of Python names the script beside the interpreter")
  func script() async throws {
    try await RunningSecretService.with([.right]) { service in
      try await service.storeWithTool("behind a finger", label: "Bank", "service", "bank")
      try await service.gate("Bank", .presence)
      let script = "\(service.store.folder)/mail.py"
      let lines = """
        import secretstorage
        bus = secretstorage.dbus_init()
        print(next(secretstorage.search_items(bus, {'service': 'bank'})).get_secret().decode())
        """
      try writeFile(script, Array(lines.utf8))
      let found = try await service.run("/usr/bin/python3", script)
      #expect(found.text == "behind a finger\n", "\(found.diagnostics)")
      #expect(
        service.agent.prompts.contains {
          $0.hasPrefix("whorl-agent: python3") && $0.contains(" wants to read “Bank”. ")
            && $0.contains(", which says that it runs “") && $0.hasSuffix("\(script.suffix(20))”)")
        })
    }
  }
}
