import Glibc
import Moving
import ProgramDriver
import Testing

@Suite("A folder as remote")
struct RemoteFolderTests {
  /// Whether an error refuses a folder, with these words in its reason.
  private static func refuses(_ error: any Error, _ words: String) -> Bool {
    if case SyncRunError.unusableFolder(_, let why) = error { why.contains(words) } else { false }
  }

  @Test(
    "a sync run does not run the hooks of a folder that is the remote",
    arguments: ["pre-receive", "update", "reference-transaction", "post-receive", "post-update", "proc-receive"])
  func hooks(_ name: String) async throws {
    try await withRemote { folder in
      let hook = "\(folder)/remote/hooks/\(name)"
      try writeFile(hook, Array("#!/bin/sh\ntouch '\(folder)/ran'\n".utf8))
      chmod(hook, 0o755)
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      #expect(try await one.sync().published == 2)
      one.vault.set("items/y", "2")
      #expect(try await one.sync().published == 1)
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      #expect(try await two.sync().taken == 3)
      #expect(access("\(folder)/ran", F_OK) != 0)
    }
  }

  @Test(
    "a folder is refused as remote if its configuration could name a program or another file",
    arguments: [
      "core.hooksPath", "core.alternateRefsCommand", "core.fsmonitor", "core.worktree", "gc.recentObjectsHook",
      "receive.procReceiveRefs", "uploadpack.packObjectsHook", "extensions.worktreeConfig", "include.path",
      "includeIf.gitdir:/.path", "remote.origin.promisor", "remote.origin.uploadpack", "filter.x.clean",
    ])
  func settings(_ setting: String) async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      // A command that would run: alternates are asked by it for their branches.
      try await git("init", "--quiet", "--bare", "\(folder)/other", in: folder)
      try writeFile("\(folder)/remote/objects/info/alternates", Array("\(folder)/other/objects\n".utf8))
      try writeFile("\(folder)/program", Array("#!/bin/sh\ntouch '\(folder)/ran'\n".utf8))
      chmod("\(folder)/program", 0o755)
      try await git("config", setting, "\(folder)/program", in: "\(folder)/remote")
      one.vault.set("items/y", "2")
      let name = setting.split(separator: ".").last.map(String.init) ?? ""
      await #expect {
        try await one.sync()
      } throws: { error in
        Self.refuses(error, name) || Self.refuses(error, "section") || Self.refuses(error, "would not write")
      }
      #expect(access("\(folder)/ran", F_OK) != 0)
      #expect(!one.vault.isSettled)
    }
  }

  @Test("a folder is refused as remote if files are checked out in it, or a part of its repository is elsewhere")
  func notBare() async throws {
    try await withRemote { folder in
      try await git("init", "--quiet", "\(folder)/project", in: folder)
      for (name, words) in [("project", "not bare"), ("project/.git", "not bare")] {
        let one = try await Machine.named(
          "one", in: folder, PretendVault(["items/x": "1"]), url: "\(folder)/\(name)")
        await #expect { try await one.sync() } throws: { Self.refuses($0, words) }
      }
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let configuration = try readFile("\(folder)/remote/config")
      for (change, words) in [
        ("rm config", "cannot be read"), ("mkdir .git", "not bare"), ("echo ../project/.git >commondir", "a part"),
        ("echo '[core] hooksPath = /x' >>config", "would not write"), (#"printf '\tx = \\\n' >>config"#, "would not"),
        ("git config core.bare false", "not bare"), ("mkfifo fifo; mv fifo config", "cannot be read"),
        // git reads this as another setting than core.bare.
        (#"git config core.bare false; printf '[core "x"]\n\tbare = true\n' >>config"#, "the section core"),
        // git takes a link to a branch that does not exist as HEAD.
        ("ln -sf refs/heads/none HEAD; rm config; echo ../project/.git >commondir", "a part"),
        ("ln -sf refs/heads/none HEAD; git config core.hooksPath /x", "hooksPath"),
      ] {
        try await Invocation(program: "/bin/sh", arguments: ["-c", "cd '\(folder)/remote' && \(change)"]).run()
          .mustSucceed()
        await #expect("\(change)") { try await one.sync() } throws: { Self.refuses($0, words) }
        try await Invocation(
          program: "/bin/sh", arguments: ["-c", "cd '\(folder)/remote' && rm -rf .git commondir config HEAD"]
        ).run().mustSucceed()
        try writeFile("\(folder)/remote/config", configuration)
        try writeFile("\(folder)/remote/HEAD", Array("ref: refs/heads/main\n".utf8))
        try await one.sync()
      }
    }
  }

  @Test("a file is refused as remote: git would read a bundle of commits from it")
  func bundle() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      try await git("bundle", "create", "\(folder)/bundle", "main", in: "\(folder)/remote")
      let two = try await Machine.named("two", in: folder, PretendVault([:]), url: "\(folder)/bundle")
      await #expect { try await two.sync() } throws: { Self.refuses($0, "not a folder") }
      #expect(two.vault.files.count == 1)
    }
  }

  @Test(
    "a folder that git made is a remote, also a shared one, a clone and one of a newer format",
    arguments: [
      "init --quiet --bare --shared", "clone --quiet --bare ../empty", "clone --quiet --mirror ../empty",
      // As git 2.55 writes it by itself.
      "clone --quiet --mirror -c remote.origin.tagOpt=--no-tags ../empty",
      "init --quiet --bare --object-format=sha256",
    ])
  func made(_ command: String) async throws {
    try await withRemote { folder in
      try await git("init", "--quiet", "--bare", "\(folder)/empty", in: folder)
      let words = command.split(separator: " ").map { $0 == "../empty" ? "\(folder)/empty" : String($0) }
      try await Invocation(program: "/usr/bin/git", arguments: words + ["\(folder)/my stick/secrets.git"]).run()
        .mustSucceed()
      // Both forms of the address, and git finds the folder without its ending.
      let url = ["\(folder)/my stick/secrets", "file://\(folder)/my%20stick/secrets.git"]
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]), url: url[0])
      #expect(try await one.sync().published == 2)
      one.vault.set("items/y", "2")
      #expect(try await one.sync().published == 1)
      let two = try await Machine.named("two", in: folder, PretendVault([:]), url: url[1])
      #expect(try await two.sync().taken == 3)
      #expect(two.vault.files == one.vault.files)
      two.vault.set("items/z", "3")
      #expect(try await two.sync().published == 1)
      #expect(try await one.sync().taken == 1)
    }
  }

  @Test("sync runs go on if the remote is made anew with another format of its objects, once it is filled again")
  func changedFormat() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      let two = try await Machine.named("two", in: folder, PretendVault([:]))
      try await one.sync()
      try await two.sync()
      #expect(rename("\(folder)/remote", "\(folder)/away") == 0)
      try await git("init", "--quiet", "--bare", "--object-format=sha256", "\(folder)/remote", in: folder)
      #expect(try await one.sync().isHeldBack)
      #expect(try await one.sync(puttingBack: true).published == 2)
      #expect(try await one.sync().taken == 0)
      two.vault.set("items/y", "2")
      #expect(try await two.sync().published == 1)
      #expect(try await one.sync().taken == 1)
      #expect(one.vault.files == two.vault.files)
    }
  }
}
