import Glibc
import ProgramDriver
import Testing

@Suite("What the window does once, and what Cancel ends")
struct WindowCloseTests {
  /// The window over a store that has items, with a finger, from a page on.
  private func shown(
    _ page: String, _ body: (WindowOnDisplay, TestStore) async throws -> Void
  ) async throws {
    try await TestStore.enrolled { store in
      try await WindowOnDisplay.with(
        ["--store", store.directory, "--page", page] + store.reader, in: store.folder
      ) { try await body($0, store) }
    }
  }

  @Test("A new recovery key cannot be asked for once more while one is shown, and can afterwards")
  func recoveryKeyOnce() async throws {
    try await shown("protection") { window, _ in
      let entry = "Its last part, from your paper"
      try await window(
        .press("Replace the Recovery Key"), .see(entry), .unusable("Replace the Recovery Key"), .press("Cancel"),
        .see("Your recovery key stays as it was"), .gone(entry), .press("Replace the Recovery Key"), .see(entry))
    }
  }

  @Test("A request that comes while the window asks for another one is refused, and the first one goes on")
  func oneRequest() async throws {
    try await shown("secrets") { window, store in
      let passcode = "quartz blanket river 47"
      try await window(
        .click("presence"), .see("Show"), .click("Protection"), .press("Change the Passcode"), .see("Confirm"),
        .press("Show"), .see("Something else was asked meanwhile, and refused. Answer this first."),
        .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .type(passcode, into: "New passcode"),
        .type(passcode, into: "Once more"), .press("Confirm"), .see("The new passcode is set"), .gone("Confirm"))
      #expect(try await store.unlocked("get", "presence").status == 77)
    }
  }

  @Test("An import cannot be cancelled while it stores, and is reported")
  func importStoring() async throws {
    try await shown("secrets") { window, store in
      let file = "\(store.folder)/passwords.csv"
      let rows = [
        "name,url,username,password", "a.test,https://a.test,alice,first", "b.test,https://b.test,bob,second",
      ]
      try writeFile(file, Array(rows.joined(separator: "\n").utf8))
      try await window(
        .press("Import"), .type(file, into: "File"), .press("Look Into It"), .see("Coming: 2 Entries"))
      let vault = try #require(processes(with: store.directory).flatMap(vaults(of:)).first)
      try stop(vault)
      defer { kill(vault, SIGCONT) }
      try await window(.press("Import"), .see("Importing"), .unusable("Cancel"))
      kill(vault, SIGCONT)
      try await window(.see("2 Secrets Imported"), .press("Take Out Again"), .gone("2 Secrets Imported"))
    }
  }

  @Test("A computer that was cancelled while git reads the repository asks for no passcode, and can begin afterwards")
  func cancelledEntry() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      let (begun, goOn) = ("\(one.folder)/begun", "\(one.folder)/go-on")
      let program = "\(one.folder)/pretended-ssh"
      let script = """
        #!/bin/sh
        echo >'\(begun)'
        for n in $(seq 600); do [ -e '\(goOn)' ] && break; sleep 0.1; done
        exec sh -c "$2"

        """
      try writeFile(program, Array(script.utf8))
      chmod(program, 0o755)
      try await WindowOnDisplay.with(
        ["--store", one.directory, "--page", "computers"] + one.reader, in: one.folder,
        more: ["GIT_SSH_COMMAND": program, "GIT_SSH_VARIANT": "simple"]
      ) { window in
        let entry = "Repository, as git takes it"
        try await window(
          .press("Begin With This Computer"), .type("host:\(machines.remote)", into: entry),
          .type("one", into: "Name of this computer"), .press("Continue"))
        for _ in 0..<1_000 where access(begun, F_OK) != 0 { try await Task.sleep(for: .milliseconds(10)) }
        try await window(.press("Cancel"), .gone(entry))
        try writeFile(goOn, [])
        let repository = "\(one.directory)/sync/repository"
        for _ in 0..<1_000 where access(repository, F_OK) == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(access(repository, F_OK) != 0)
        #expect(try await !window.texts().contains("Passcode"))
        try await window(
          .press("Begin With This Computer"), .type("host:\(machines.remote)", into: entry),
          .type("one", into: "Name of this computer"), .press("Continue"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("this computer"))
      }
    }
  }
}
