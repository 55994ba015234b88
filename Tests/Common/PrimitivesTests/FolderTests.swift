import Glibc
import Primitives
import Testing

@Suite("Folders")
struct FolderTests {
  private func withFolder(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/whorl-folder-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    defer { try? Folder.remove(folder) }
    try body(folder)
  }

  private func write(_ path: String) { close(creat(path, 0o600)) }

  @Test("the names in a folder come in the order of their bytes, without those of the folder itself and the one above")
  func names() throws {
    try withFolder { folder in
      for name in ["b", ".hidden", "a", "..more"] { write("\(folder)/\(name)") }
      #expect(Folder.names(in: folder) == ["..more", ".hidden", "a", "b"])
      let descriptor = open(folder, O_RDONLY | O_DIRECTORY)
      defer { close(descriptor) }
      for _ in 1...2 { #expect(Folder.names(at: descriptor) == ["..more", ".hidden", "a", "b"]) }
    }
  }

  @Test("names in a folder that are not UTF-8 come as the bytes that they are")
  func otherBytes() throws {
    try withFolder { folder in
      var path = Array("\(folder)/".utf8CString.dropLast()) + [CChar(bitPattern: 0xE4), 0]
      let file = creat(&path, 0o600)
      #expect(file >= 0)
      close(file)
      #expect(Folder.nameBytes(in: folder) == [[0xE4]])
    }
  }

  @Test("a folder that cannot be read has no list of names, and the reason is in errno")
  func missing() throws {
    try withFolder { folder in
      #expect(Folder.names(in: "\(folder)/none") == nil && errno == ENOENT)
      write("\(folder)/file")
      #expect(Folder.names(in: "\(folder)/file") == nil && errno == ENOTDIR)
    }
  }

  @Test("a private folder is made with those above it, and refused where others can access it")
  func making() throws {
    try withFolder { folder in
      let place = "\(folder)/above/place"
      for _ in 1...2 { try Folder.makePrivate(place) }
      var status = stat()
      #expect(lstat("\(folder)/above", &status) == 0 && status.st_mode & 0o777 == 0o700)
      chmod(place, 0o750)
      #expect(throws: Folder.Failure.self) { try Folder.makePrivate(place) }
      write("\(folder)/file")
      #expect(throws: Folder.Failure.self) { try Folder.makePrivate("\(folder)/file") }
      symlink("\(folder)/above", "\(folder)/link")
      #expect(throws: Folder.Failure.self) { try Folder.makePrivate("\(folder)/link") }
    }
  }

  @Test("removing a folder removes all that is in it, and nothing that a link in it names")
  func removing() throws {
    try withFolder { folder in
      let (place, other) = ("\(folder)/place", "\(folder)/other")
      for path in ["\(place)/below", other] { try Folder.makePrivate(path) }
      for path in ["\(place)/below/file", "\(other)/file"] { write(path) }
      symlink(other, "\(place)/link")
      for _ in 1...2 { try Folder.remove(place) }
      #expect(Folder.names(in: folder) == ["other"])
      #expect(Folder.names(in: other) == ["file"])
    }
  }
}
