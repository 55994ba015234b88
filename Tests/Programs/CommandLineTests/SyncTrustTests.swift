import Glibc
import ProgramDriver
import Testing

/// Three machines with stores of their own, and a hosting site that lies, in each of its ways; a member that lies, and a
/// removed machine that can still write. Nothing reaches anyone whom no person has confirmed, and every change of the
/// machines is told by name.
@Suite("whorl sync with a hosting site or a machine that lies")
struct SyncTrustTests {
  /// A machine of the hosting site's own, with a circle of its own in the folder `site`.
  private func site(_ machines: SyncMachines) async throws -> TestStore {
    let own = "\(machines.folder)/site"
    try await Invocation(program: "/usr/bin/git", arguments: ["init", "--quiet", "--bare", own]).run().mustSucceed()
    let store = try await machines.machine("site-store")
    try await store.unlocked("sync", "init", own, "--name", "one").mustSucceed()
    try await store.set("bait", "iron", "--access", "none", "--sync")
    try await store.whorl("sync", "now").mustSucceed()
    try await store.whorl("sync", "remote", machines.remote).mustSucceed()
    return store
  }

  private func now(_ store: TestStore, _ status: Int32, _ told: String, _ options: String...) async throws {
    let run = try await Invocation(arguments: store.arguments(["sync", "now"] + options)).run()
    #expect(run.status == status && run.diagnostics.contains(told), "\(run.status): \(run.diagnostics)")
  }

  @Test(
    "machines that share publish nothing where the repository has another circle, and put theirs back for them alone")
  func otherCircle() async throws {
    try await SyncMachines.with { machines in
      let (one, two, three) = try await machines.trio()
      try await machines.keep(as: "real")
      let thief = try await site(machines)
      try await machines.serve("site")
      let commit = try await machines.commit()
      for machine in [one, two, three] {
        try await machine.set("of \(machine.folder.suffix(3))", "gold", "--access", "none", "--sync")
        try await now(machine, 65, "has lost records that this machine has seen")
        #expect(try await machine.whorl("get", "bait").status == 66)
      }
      #expect(try await machines.commit() == commit)
      _ = try await one.whorl("sync", "now", "--put-back")
      _ = try await thief.whorl("sync", "now")
      #expect(try await !machines.secrets(readableBy: thief, memberIn: "site").contains("gold"))
      #expect(try await thief.whorl("ls").text.contains("gold") == false)
    }
  }

  @Test(
    "a machine that joins the hosting site's own circle shows other words, and tells it neither a secret nor its name")
  func joinsOtherCircle() async throws {
    try await SyncMachines.with { machines in
      let (one, new) = (try await machines.machine("one"), try await machines.machine("new"))
      try await one.unlocked("sync", "init", machines.remote, "--name", "one").mustSucceed()
      try await new.set("mine", "gold", "--access", "none", "--sync")
      let thief = try await site(machines)
      try await machines.serve("site")
      let joining = try PseudoTerminal(
        new.arguments(["sync", "join", machines.remote, "--name", "new-laptop"]),
        environment: ["HOME": new.folder, "PATH": "/usr/bin:/bin"])
      try await joining.waits(for: "Passcode: ", seconds: 40)
      try await joining.becomes(echoing: false)
      joining.type("\(TestStore.passcode)\n")
      // The site says yes to everything.
      var approved = try await thief.unlocked("sync", "approve")
      for _ in 1...100 where approved.status == 66 {
        try await Task.sleep(for: .milliseconds(200))
        approved = try await thief.unlocked("sync", "approve")
      }
      try await joining.waits(for: "Does the other computer show the same?", seconds: 40)
      // The person's other machine shows none.
      #expect(try await one.unlocked("sync", "approve").status != 0)
      joining.type("n\n")
      #expect(try await joining.status() == 77)
      let files = try await Invocation(
        program: "/usr/bin/git", arguments: ["-C", machines.remote, "ls-tree", "-r", "--name-only", "main"]
      ).run().text
      #expect(files.contains("requests/") && !files.contains("consents/"), "\(files)")
      #expect(try await !machines.secrets(readableBy: thief, memberIn: "site").contains("gold"))
      #expect(try await new.whorl("get", "bait").status == 66)
    }
  }

  @Test("an older state in which a removed machine is still one of them brings it nothing, and is told")
  func olderState() async throws {
    try await SyncMachines.with { machines in
      let (one, two, three) = try await machines.trio()
      try await machines.keep(as: "before")
      try await one.unlocked("sync", "remove", "three", "--yes").mustSucceed()
      try await now(two, 0, "“one” has removed “three”")
      try await two.unlocked("sync", "confirm", "--yes").mustSucceed()
      try await machines.serve("before")
      try await three.whorl("sync", "now").mustSucceed()
      for (machine, secret) in [(one, "gold"), (two, "silver")] {
        try await machine.set(secret, secret, "--access", "none", "--sync")
        try await now(machine, 65, "has lost records that this machine has seen")
      }
      try await now(one, 0, "", "--put-back")
      try await two.whorl("sync", "now", "--put-back").mustSucceed()
      try await one.whorl("sync", "now").mustSucceed()
      #expect(try await two.whorl("get", "gold").text == "gold")
      #expect(try await one.whorl("get", "silver").text == "silver")
      _ = try await three.whorl("sync", "now")
      for secret in ["gold", "silver"] {
        #expect(try await three.whorl("get", secret).status == 66)
        #expect(try await !machines.secrets(readableBy: three, memberIn: "before").contains(secret))
      }
    }
  }

  @Test(
    "a removed machine that goes on from before its removal is told by name, and gets nothing from a machine that slept"
  )
  func branch() async throws {
    try await SyncMachines.with { machines in
      let (one, two, three) = try await machines.trio()
      try await machines.keep(as: "before")
      try await one.unlocked("sync", "remove", "three", "--yes").mustSucceed()
      try await machines.serve("before")
      try await three.unlocked("sync", "remove", "one", "--yes").mustSucceed()
      try await now(two, 0, "“three” has removed “one”")
      try await two.set("bank", "gold", "--access", "none", "--sync")
      let commit = try await machines.commit()
      try await now(two, 0, "nothing of this computer is published")
      #expect(try await machines.commit() == commit)
      try await now(one, 65, "There are two different lists of your computers")
      try await one.set("mail", "silver", "--access", "none", "--sync")
      _ = try await one.whorl("sync", "now", "--put-back")
      #expect(try await machines.commit() == commit)
      try await three.whorl("sync", "now").mustSucceed()
      let seen = try await machines.secrets(readableBy: three, memberIn: "before")
      #expect(!seen.contains("gold") && !seen.contains("silver"), "\(seen)")
      let refused = try await two.unlocked("sync", "confirm", "--reject")
      #expect(refused.status == 0 && refused.diagnostics.contains("\n  bank\n"), "\(refused.diagnostics)")
    }
  }

  @Test("two lists of the machines that a site shows to one machine each come to light when one sees the other's")
  func twoAtOnce() async throws {
    try await SyncMachines.with { machines in
      let (one, two, three) = try await machines.trio()
      try await machines.keep(as: "before")
      try await one.unlocked("sync", "remove", "three", "--yes").mustSucceed()
      try await machines.keep(as: "shown to one")
      try await machines.serve("before")
      let four = try await machines.machine("four")
      try await machines.join(four, as: "four", by: two)
      try await machines.keep(as: "shown to two")
      for (machine, other) in [(one, "shown to two"), (two, "shown to one")] {
        try await machines.serve(other)
        try await machine.set("bank", "gold", "--access", "none", "--sync")
        let commit = try await machines.commit()
        try await now(machine, 65, "There are two different lists of your computers")
        // Nothing can be put back before the person has said which is right.
        try await now(machine, 65, "'whorl sync confirm' asks about your computers first", "--put-back")
        #expect(try await machines.commit() == commit)
        let doctor = try await machine.whorl("doctor")
        #expect(doctor.text.contains("there are two different lists of your computers"), "\(doctor.text)")
      }
      for (machine, state) in [(three, "before"), (four, "shown to two")] {
        #expect(try await !machines.secrets(readableBy: machine, memberIn: state).contains("gold"))
      }
    }
  }

  @Test(
    "a machine that removes another, and lets a stranger in, is told by name, and the stranger gets nothing before a yes"
  )
  func lyingMember() async throws {
    try await SyncMachines.with { machines in
      let (one, two, three) = try await machines.trio()
      let stranger = try await machines.machine("stranger")
      try await machines.join(stranger, as: "one", by: three)
      try await machines.keep(as: "joined")
      try await three.unlocked("sync", "remove", "two", "--yes").mustSucceed()
      try await one.set("bank", "gold", "--access", "none", "--sync")
      // The stranger has taken the name of another machine, and is told apart from it.
      try await now(one, 0, "“three” has let “one (2)” in")
      try await now(one, 0, "“three” has removed “two”")
      _ = try await two.whorl("sync", "now")
      try await now(two, 77, "another of your computers has removed this one")
      #expect(try await !machines.secrets(readableBy: stranger, memberIn: "joined").contains("gold"))
      let refused = try await one.unlocked("sync", "confirm", "--reject")
      #expect(refused.status == 0, "\(refused.diagnostics)")
      _ = try await one.whorl("sync", "now")
      _ = try await stranger.whorl("sync", "now")
      #expect(try await stranger.whorl("get", "bank").status == 66)
      #expect(try await !machines.secrets(readableBy: stranger, memberIn: "joined").contains("gold"))
    }
  }
}
