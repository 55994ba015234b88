import Glibc
import ProgramDriver
import Testing

@Suite("The environment of the caller")
struct EnvironmentTests {
  @Test("environment variables of libfprint create no reader")
  func readers() async throws {
    try await withFolder { folder in
      var variables = ["FP_DRIVERS_WHITELIST": "virtual_image", "UMOCKDEV_DIR": folder, "FP_DEVICE_EMULATION": "1"]
      for name in ["IMAGE", "DEVICE", "DEVICE_STORAGE"] { variables["FP_VIRTUAL_\(name)"] = "\(folder)/socket" }
      let listed = try await Invocation(arguments: ["reader", "list", "--json"], environment: variables).run()
      #expect(listed.status == 0)
      #expect(!listed.text.contains("virtual"), "\(listed.text)")
      let tested = try await Invocation(program: "whorl-reader-kit", arguments: ["test"], environment: variables).run()
      #expect(!tested.text.contains("virtual"))
      #expect(access("\(folder)/socket", F_OK) != 0)
    }
  }

  @Test("environment variables of D-Bus and fprintd select no other fprintd")
  func fprintd() async throws {
    try await PrivateFprintd.with(.storage) { fprintd in
      let variables = [
        "DBUS_SYSTEM_BUS_ADDRESS": fprintd.bus, "DBUS_STARTER_ADDRESS": fprintd.bus,
        "STATE_DIRECTORY": fprintd.templates,
      ]
      for reader in ["fprintd", "auto"] {
        let listed = try await Invocation(
          arguments: ["reader", "list", "--reader", reader], environment: variables
        ).run()
        #expect(!listed.text.contains("Virtual"), "\(listed.text)")
      }
    }
  }

  @Test("environment variables of OpenSSL load no configuration or code into the process that holds the keys")
  func openSSL() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      // A program that opens this FIFO waits for a writer for ever.
      let trap = "\(store.folder)/openssl.cnf"
      try #require(mkfifo(trap, 0o600) == 0)
      let variables = ["OPENSSL_CONF": trap, "OPENSSL_MODULES": store.folder, "OPENSSL_ENGINES": store.folder]
      let program = try Invocation(arguments: store.arguments(["get", "a"]), environment: variables).start()
      let deadline = Deadline(seconds: 20) { program.signal(SIGKILL) }
      let result = await withCheckedContinuation { continuation in
        startThread { continuation.resume(returning: program.finish { _, _ in }) }
      }
      deadline.cancel()
      #expect(result.status == 0)
      #expect(result.text == "secret")
    }
  }

  @Test("standard streams that are closed for whorl stay closed, whatever files it opens")
  func closedStreams() async throws {
    try await TestStore.with { store in
      try await store.set("a", "secret", "--access", "none")
      var get = Invocation(arguments: store.arguments(["get", "a"]))
      get.closed = [1]
      let unwritten = try await get.run()
      #expect(unwritten.status == 74)
      #expect(unwritten.failure.contains("Bad file descriptor"), "\(unwritten.failure)")
      var set = Invocation(arguments: store.arguments(["set", "b"]))
      set.closed = [0]
      let unread = try await set.run()
      #expect(unread.status == 74)
      #expect(unread.failure.contains("Bad file descriptor"), "\(unread.failure)")
      let script = "s=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo \"$s\" >\(store.folder)/streams"
      var run = Invocation(arguments: store.arguments(["run", "--env", "A=a", "--", "/bin/sh", "-c", script]))
      run.closed = [0, 1, 2]
      #expect(try await run.run().status == 0)
      let streams = String(decoding: try readFile("\(store.folder)/streams"), as: UTF8.self)
      #expect(streams == "/dev/null\n/dev/null\n/dev/null\n")
    }
  }

  @Test("a home folder whose name is not UTF-8 is refused, and no similar folder is used")
  func brokenHome() async throws {
    try await withFolder { folder in
      for variable in ["HOME", "XDG_DATA_HOME"] {
        let script = "\(variable)=$(printf '\(folder)/\\377') exec \"$0\" init --no-passcode"
        let made = try await Invocation(
          program: "/bin/sh", arguments: ["-c", script, try Programs.path("whorl")], environment: ["HOME": folder]
        ).run()
        #expect(made.status == 78, "\(made.diagnostics)")
        #expect(made.failure.contains("--store"), "\(made.failure)")
      }
      #expect(try folderEntries(folder).isEmpty)
    }
  }

  @Test("init on a full disk says so, and leaves nothing behind")
  func noRoom() async throws {
    try await withFolder { folder in
      let script = """
        trap '' XFSZ; ulimit -f 0
        exec "$0" init --no-passcode --recovery-fd 4 --store '\(folder)/store' 4>/dev/null
        """
      let made = try await Invocation(
        program: "/bin/sh", arguments: ["-c", script, try Programs.path("whorl")]
      ).run()
      #expect(made.status == 74)
      #expect(made.failure.contains("File too large: check the disk's space"), "\(made.failure)")
      #expect(try folderEntries(folder).isEmpty)
    }
  }

  @Test("PATH does not choose the reader process")
  func path() async throws {
    try await withFolder { folder in
      try writeFile("\(folder)/whorl-reader", Array("#!/bin/sh\ntouch \(folder)/ran\n".utf8))
      chmod("\(folder)/whorl-reader", 0o700)
      _ = try await Invocation(arguments: ["reader", "list"], environment: ["PATH": "\(folder):/usr/bin:/bin"]).run()
      #expect(access("\(folder)/ran", F_OK) != 0)
    }
  }
}
