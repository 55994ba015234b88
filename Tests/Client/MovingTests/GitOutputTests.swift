import ProgramDriver
import Testing

@testable import Moving

@Suite("What git says of the private repository")
struct GitOutputTests {
  @Test("what git says in another form than that of changes ends a sync run, and is not read as changes")
  func otherForm() async throws {
    try await withRemote { folder in
      let repository = try await Machine.named("one", in: folder, PretendVault([:])).repository
      await #expect(throws: SyncRunError.damaged("git describes a change in an unknown form")) {
        try await onOwnThread {
          let git = repository.git
          _ = try TreeChanges(GitProcess(git, git.local(["config", "--null", "--list"]), in: repository.folder))
        }
      }
    }
  }

  @Test("a folder and a commit are not read as files of a sync repository")
  func otherKinds() async throws {
    try await withRemote { folder in
      let one = try await Machine.named("one", in: folder, PretendVault(["items/x": "1"]))
      try await one.sync()
      let commit = try #require(one.received)
      let found = try await onOwnThread {
        let blobs = one.repository.blobs()
        return try ["\(commit):items/x", "\(commit):items", commit].map { name in
          if case .contents = try blobs.read(name) { true } else { false }
        }
      }
      #expect(found == [true, false, false])
    }
  }
}
