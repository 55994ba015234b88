internal import Glibc
package import Moving
internal import SecureMemory

/// A file of secrets that another program has written, read into locked memory.
package enum EntryFile {
  /// The longest file that is read, in bytes.
  static let limit = 64 << 20

  /// The path that means standard input.
  package static let standardInput = "-"

  /// The entries of a CSV file with a header.
  package static func csv(_ path: String) throws(ImportError) -> ReadEntries {
    let text = try FileText.utf8(bytes(of: path)).bytes
    guard first(of: text) != UInt8(ascii: "<") else {
      throw .malformed("it is XML and not CSV: --from keepassxc reads the XML of KeePass")
    }
    return try CSVEntries.read(CSVTable(text))
  }

  /// The entries that KeePassXC has exported, as CSV or as XML.
  package static func keepassxc(_ path: String) throws(ImportError) -> ReadEntries {
    let (text, wasUTF16) = try FileText.utf8(bytes(of: path))
    guard first(of: text) == UInt8(ascii: "<") else { return try CSVEntries.read(CSVTable(text)) }
    return try KeePassExport.read(text.bytes, isUTF8: wasUTF16)
  }

  /// The first character that is not blank.
  private static func first(of text: SharedSecret) -> UInt8? {
    text.bytes.withUnsafeBytes { bytes in
      let text = bytes.starts(with: FileText.utf8Mark) ? bytes.dropFirst(FileText.utf8Mark.count) : bytes[...]
      return text.first { !" \t\r\n".utf8.contains($0) }
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
