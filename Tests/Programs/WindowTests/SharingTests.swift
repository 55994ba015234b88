import Glibc
import ProgramDriver
import Testing

@Suite("Ending and timing what the computers share, in the window")
struct SharingTests {
  @Test("The window turns the timer on when a computer begins to share, and off when it stops, and its secrets stay")
  func timer() async throws {
    try await SyncMachines.with { machines in
      let one = try await machines.machine("one")
      try await one.set("mine", "a secret of mine")
      let services = try UserServicesStandIn(in: one.folder)
      let command = ["[Service]", "ExecStart=/usr/bin/whorl sync"]
      try services.install("whorl-sync.service", command)
      try services.install("whorl-sync-now.service", command)
      try services.install("whorl-sync.timer", ["[Timer]"])
      try await WindowOnDisplay.with(
        ["--store", one.directory, "--page", "computers"], in: one.folder, more: services.environment()
      ) { window in
        try await window(
          .press("Begin With This Computer"), .type(machines.remote, into: "Repository, as git takes it"),
          .type("one", into: "Name of this computer"), .press("Continue"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"), .see("this computer"),
          .see("This computer is the first. Share a secret by its page."))
        for _ in 0..<500 where services.calls.count < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(services.calls == ["--user daemon-reload", "--user enable --now whorl-sync.timer"])
        #expect(
          String(
            decoding: try readFile("\(one.folder)/config/systemd/user/whorl-sync-now.service.d/whorl-options.conf"),
            as: UTF8.self
          ).contains(one.directory))
        try await window(.press("Stop sharing on this computer"), .press("Cancel"), .see("this computer"))
        #expect(try await one.whorl("sync", "status").status == 0)
        try await window(
          .press("Stop sharing on this computer"), .press("Stop Sharing"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
          .see("This computer shares with no other any more. Its secrets stay here."))
        #expect(services.calls.contains { $0.hasPrefix("--user disable --now whorl-sync.timer") }, "\(services.calls)")
        #expect(try await one.unlocked("get", "mine").text == "a secret of mine")
      }
    }
  }

  @Test("The last computer that shares loses another version of a secret only after the word for it was typed")
  func lost() async throws {
    try await SyncMachines.with { machines in
      let (one, two) = try await machines.conflict()
      try await WindowOnDisplay.with(
        ["--store", one.directory, "--page", "computers"] + one.reader, in: one.folder
      ) { window in
        let (stop, word) = ("Stop sharing on this computer", "To delete it, type delete")
        try await window(
          .press("Remove two"), .press("Remove"), .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
          .gone("Remove two"), .press(stop), .press("Stop Sharing"), .see(word), .unusable("Delete"))
        let texts = try await window.texts()
        #expect(texts.contains { $0.contains("and nowhere else.\nx: another version, written on “") }, "\(texts)")
        try await window(.press("Cancel"), .see("Use this version of x"))
        try await window(
          .press(stop), .press("Stop Sharing"), .type("delete", into: word), .press("Delete"),
          .type(TestStore.passcode, into: "Passcode"), .press("Confirm"),
          .see("This computer shares with no other any more. Its secrets stay here."))
        #expect(try await one.whorl("get", "x").status == 0)
        #expect(try await two.whorl("get", "x").status == 0)
      }
    }
  }
}
