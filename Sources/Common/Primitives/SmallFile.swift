internal import Glibc

/// Reads a small file. Does not block on FIFOs and devices.
package enum SmallFile {
  package struct Failure: Error {
    /// What is wrong, worded to follow the path.
    package let problem: String
  }

  package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    // O_NONBLOCK: a FIFO of that name must not hang the program.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw unsafe Failure(problem: String(cString: strerror(errno))) }
    defer { close(file) }
    var information = stat()
    guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw Failure(problem: "it is not a file")
    }
    guard information.st_size <= limit else { throw Failure(problem: "it is larger than \(limit) bytes") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      // Borrows the chunk for the call and writes at most its length.
      let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
      if count == 0 { return bytes }
      guard count > 0 || errno == EINTR else { throw unsafe Failure(problem: String(cString: strerror(errno))) }
      if count > 0 { bytes += chunk[..<count] }
    }
    throw Failure(problem: "it is larger than \(limit) bytes")
  }
}
