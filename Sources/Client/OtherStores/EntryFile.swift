internal import Glibc
internal import SecureMemory
package import Whorl

/// A file of secrets that another program has written, read into locked memory.
package enum EntryFile {
  /// The longest file that is read, in bytes.
  static let limit = 64 << 20

  /// What stands for standard input in place of a path.
  package static let standardInput = "-"

  /// The entries of a CSV file whose first line names the columns.
  package static func csv(_ path: String) throws(ImportError) -> ReadEntries {
    try CSVEntries.read(CSVTable(bytes(of: path)))
  }

  /// The entries that KeePassXC has exported, as CSV or as XML.
  package static func keepassxc(_ path: String) throws(ImportError) -> ReadEntries {
    let bytes = try bytes(of: path)
    return try isXML(bytes) ? KeePassExport.read(bytes) : CSVEntries.read(CSVTable(bytes))
  }

  private static func isXML(_ bytes: borrowing SecretBytes) -> Bool {
    bytes.withUnsafeBytes { bytes in
      let text = bytes.starts(with: utf8Mark) ? bytes.dropFirst(utf8Mark.count) : bytes[...]
      return text.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }
  }

  private static func bytes(of path: String) throws(ImportError) -> SecretBytes {
    guard path != standardInput else { return try read(STDIN_FILENO, "standard input") }
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      throw errno == ENOENT ? .missing(path) : .system("\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(file) }
    return try read(file, path)
  }

  private static func read(_ file: Int32, _ name: String) throws(ImportError) -> SecretBytes {
    do throws(ReadError) {
      return try SecretBytes.read(from: file, limit: limit)
    } catch {
      switch error {
      case .tooLong(let limit): throw .malformed("\(name) is larger than \(limit >> 20) MiB")
      case .endOfInput, .system: throw .system("\(name): \(error)")
      }
    }
  }
}

/// The bytes that some programs write in front of a text in UTF-8.
let utf8Mark: [UInt8] = [0xEF, 0xBB, 0xBF]
