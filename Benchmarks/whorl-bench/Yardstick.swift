import Glibc
import Keys
import Primitives

/// The speed of the machine itself at this moment, to judge times of another machine or another hour by: nothing of it
/// depends on Whorl.
struct Yardstick {
  let folder: String

  func measure(into report: inout Report) throws {
    report.add(try compile())
    let parameters = try Scrypt.Parameters.fresh()
    report.add(
      try Samples.taking("yardstick: scrypt, N = 2^17", 3) {
        _ = try Scrypt.derive(passcode: SecretBytes(copying: Array("yardstick".utf8).span), parameters: parameters)
      })
    report.add(try fsync())
  }

  /// A compiler of C over a thousand functions, as a whole process.
  private func compile() throws -> Samples {
    let source = "\(folder)/yardstick.c"
    let functions = (0..<1_000).map { "int f\($0)(int a, int b) { while (a < b) a = a * \($0) + b % 7; return a; }\n" }
    try write(functions.joined(), to: source)
    let compilers: [String] = ["/usr/bin/cc", "/usr/bin/clang"]
    guard let compiler = compilers.first(where: { access($0, X_OK) == 0 }) else {
      throw BenchFailure("there is no compiler of C")
    }
    let program = ChildProgram(
      name: "yardstick: cc -O2", arguments: [compiler, "-O2", "-c", "-o", "/dev/null", source],
      environment: ["PATH=/usr/bin:/bin"])
    var samples = Samples(name: program.name)
    for _ in 0..<5 { samples.nanoseconds.append(try program.run().nanoseconds) }
    return samples
  }

  /// A page written to a file and synced.
  private func fsync() throws -> Samples {
    let path = "\(folder)/yardstick"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchFailure("cannot write \(path)") }
    defer { close(descriptor) }
    let page = [UInt8](repeating: 7, count: 4_096)
    return try Samples.taking("yardstick: fsync of a page", 50) {
      guard pwrite(descriptor, page, page.count, 0) == page.count, Glibc.fsync(descriptor) == 0 else {
        throw BenchFailure("cannot write \(path)")
      }
    }
  }

  private func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw BenchFailure("cannot write \(path)") }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw BenchFailure("cannot write \(path)") }
  }
}
