import Foundation
import Glibc

/// One run of a program of the system, without input.
///
/// Foundation's Process is not used: it reads the list of open descriptors past its end, which can crash while other tests
/// have a thousand of them open.
struct ToolRun {
  /// The exit status; nil for a program that was ended by a signal or could not be started.
  let status: Int32?
  /// What it wrote to its standard output and standard error.
  let output: String

  init(_ program: String, _ arguments: [String], in folder: URL) {
    let words = ["env", "--chdir=\(folder.path)", program] + arguments
    let command = words.map { "'\($0.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
    guard let stream = popen("\(command) 2>&1 </dev/null", "re") else {
      (status, output) = (nil, "")
      return
    }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while case let count = fread(&chunk, 1, chunk.count, stream), count > 0 { text += chunk[..<count] }
    let ending = pclose(stream)
    status = ending & 0x7F == 0 ? ending >> 8 & 0xFF : nil
    output = String(decoding: text, as: UTF8.self)
  }
}
