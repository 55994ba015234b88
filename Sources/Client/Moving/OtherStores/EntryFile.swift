internal import Glibc
internal import Primitives

/// A file of secrets that another program has written, read into locked memory.
package enum EntryFile {
  /// The longest file that is read, in bytes.
  static let limit = 64 << 20

  /// The path that means standard input.
  package static let standardInput = "-"

  /// Whether there is a file at the path, which stays when it has been read, unlike a pipe from another program. A name of
  /// one of this program's descriptors, such as /dev/stdin, is no path of a file.
  package static func isKept(_ path: String) -> Bool {
    var status = stat()
    return path != standardInput && !path.hasPrefix("/dev/") && !path.hasPrefix("/proc/")
      && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// Whether the path names a pipe, a socket or a device: reading it may never end.
  package static func isPipeOrDevice(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// The entries of a CSV file with a header.
  package static func csv(_ path: String) throws(ImportError) -> ReadEntries {
    let text = try text(of: path).bytes
    guard first(of: text) != UInt8(ascii: "<") else {
      throw .malformed(
        text.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0.prefix(4_096)).contains("<KeePassFile") }
          ? "it is XML and not CSV: --from keepassxc reads the XML of KeePass"
          : "it is XML, of which only KeePass's is read: have its program export it as CSV")
    }
    return try CSVEntries.read(CSVTable(text))
  }

  /// The entries that KeePassXC has exported, as CSV or as XML.
  package static func keepassxc(_ path: String) throws(ImportError) -> ReadEntries {
    let (text, wasUTF16) = try text(of: path)
    guard first(of: text) == UInt8(ascii: "<") else { return try CSVEntries.read(CSVTable(text)) }
    return try KeePassExport.read(text.bytes, isUTF8: wasUTF16)
  }

  /// The seeds of one-time codes that Aegis has exported.
  package static func aegis(_ path: String) throws(ImportError) -> ReadEntries {
    try AegisExport.read(text(of: path, isJSON: true).bytes)
  }

  /// The entries that Bitwarden, Proton Pass or 1Password has exported as JSON.
  package static func json(_ path: String) throws(ImportError) -> ReadEntries {
    try JSONEntries.read(text(of: path, isJSON: true).bytes)
  }

  /// The first character that is not blank.
  private static func first(of text: SharedSecret) -> UInt8? {
    text.bytes.withUnsafeBytes { bytes in
      let text = bytes.starts(with: FileText.utf8Mark) ? bytes.dropFirst(FileText.utf8Mark.count) : bytes[...]
      return text.first { !" \t\r\n".utf8.contains($0) }
    }
  }

  private static func text(of path: String, isJSON: Bool = false) throws(ImportError) -> (
    bytes: SharedSecret, wasUTF16: Bool
  ) {
    guard path != standardInput else {
      return try FileText.utf8(read(STDIN_FILENO, "standard input"), at: nil, isJSON: isJSON)
    }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw errno == ENOENT ? .missing(path) : .system("\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    var status = stat()
    if fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      // Some vaults are folders.
      throw .malformed(RefusedFormat.of(path: path) ?? "\(path) is a folder: name the file in it")
    }
    return try FileText.utf8(read(file, path), at: path, isJSON: isJSON)
  }

  private static func read(_ file: Int32, _ name: String) throws(ImportError) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: file, limit: limit)
    } catch {
      switch error {
      case .tooLong: throw .malformed(tooLong(file, name))
      case .endOfInput, .system: throw .system("\(name): \(error)")
      }
    }
  }

  /// What to say of a file that is too long: often it is an archive, or XML with the files that were kept with entries.
  private static func tooLong(_ file: Int32, _ name: String) -> String {
    var head = SecretBytes(count: 64 << 10)
    let words = head.withUnsafeMutableBytes { head in
      // Writes at most the length of the buffer, which it borrows; fails for a pipe.
      let count = max(0, pread(file, head.baseAddress, head.count, 0))
      return RefusedFormat.words(for: UnsafeRawBufferPointer(rebasing: head[..<count]), at: name)
    }
    return words
      ?? "\(name) is larger than \(limit >> 20) MiB: export it as CSV, which has no attached files, or in several parts"
  }
}
