import Glibc
import Primitives
import Testing

@Suite("Files that are whole or not there")
struct WholeFileTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/whorl-whole-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    defer { try? Folder.remove(folder) }
    try body(folder)
  }

  private func mode(of path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test("a file has its name only when it is complete, and then replaces the one that was there")
  func replacing() throws {
    try withFolder { folder in
      let path = "\(folder)/file"
      for contents in ["first", "second"] {
        let before = try? SmallFile.read(path, limit: 100)
        let file = try WholeFile(path)
        try file.write(Array(contents.utf8))
        #expect(try before == (contents == "first" ? nil : SmallFile.read(path, limit: 100)))
        try file.place()
        #expect(try SmallFile.read(path, limit: 100) == Array(contents.utf8))
        #expect(mode(of: path) == 0o600 && Folder.names(in: folder) == ["file"])
      }
    }
  }

  @Test("a file that is given up leaves nothing behind, and the one that was there stays")
  func givenUp() throws {
    try withFolder { folder in
      let path = "\(folder)/file"
      let first = try WholeFile(path)
      try first.place()
      do {
        let second = try WholeFile(path)
        try second.write([1])
      }
      #expect(try SmallFile.read(path, limit: 100).isEmpty && Folder.names(in: folder) == ["file"])
    }
  }

  @Test("what was left under the other name is removed, and a symbolic link there is not followed")
  func leftover() throws {
    try withFolder { folder in
      let (path, other) = ("\(folder)/file", "\(folder)/other")
      #expect(symlink(other, "\(path).new") == 0)
      let file = try WholeFile(path)
      try file.write([1])
      try file.place()
      #expect(try SmallFile.read(path, limit: 100) == [1] && Folder.names(in: folder) == ["file"])
    }
  }

  @Test("a file that must replace nothing keeps away from one that has appeared, and has the user's mask")
  func exclusive() throws {
    try withFolder { folder in
      let path = "\(folder)/file"
      let file = try WholeFile(path, mode: 0o644, suffix: nil)
      try file.write([1])
      let other = try WholeFile(path)
      try other.place()
      let failure = #expect(throws: WholeFile.Failure.self) { try file.place(replacing: false) }
      #expect(failure?.code == EEXIST)
      #expect(try SmallFile.read(path, limit: 100).isEmpty)
    }
  }

  @Test("a signal before a file is in place removes what has its other name, and one afterwards leaves the file")
  func signalled() throws {
    for isInPlace in [false, true] {
      try withFolder { folder in
        let (path, unfinished) = ("\(folder)/file", Unfinished())
        try WholeFile(path).place()
        let file = try WholeFile(path, in: unfinished)
        try file.write([1])
        if isInPlace { try file.place() }
        unfinished.undoAll()
        #expect(Folder.names(in: folder) == ["file"])
        // The thread that writes the file goes on meanwhile.
        if !isInPlace { #expect(throws: WholeFile.Failure.self) { try file.place() } }
        #expect(try SmallFile.read(path, limit: 100) == (isInPlace ? [1] : []))
      }
    }
  }

  @Test("a file in a folder that is missing is refused with what could not be written, and why")
  func missing() throws {
    let failure = #expect(throws: WholeFile.Failure.self) { try WholeFile("/nowhere/at/all/file") }
    #expect(failure?.what == "cannot write /nowhere/at/all/file" && failure?.code == ENOENT)
  }

  @Test("a file is the same by all its names, and no other file is")
  func identity() throws {
    try withFolder { folder in
      for name in ["a", "b"] { close(creat("\(folder)/\(name)", 0o600)) }
      #expect(link("\(folder)/a", "\(folder)/hard") == 0 && symlink("a", "\(folder)/soft") == 0)
      let file = try #require(FileIdentity(at: "\(folder)/a"))
      #expect(FileIdentity(at: "\(folder)/hard") == file && FileIdentity(at: "\(folder)/soft") == file)
      #expect(FileIdentity(at: "\(folder)/b") != file && FileIdentity(at: "\(folder)/c") == nil)
    }
  }
}
