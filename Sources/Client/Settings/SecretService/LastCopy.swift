internal import Glibc
internal import Primitives
internal import Whorl

/// When the passwords of the desktop's other program were last copied into Whorl, in a file of the user's. What programs
/// store there later, until Whorl takes over, is brought in from the other program's files.
package struct LastCopy {
  private let path: String

  package init() throws(Failure) {
    guard let state = BaseDirectories.state else { throw .noHome }
    path = "\(state)/whorl/secret-service-copied"
  }

  /// Seconds since 1970; nil if nothing is to be brought in.
  package var time: Double? { lines.first.flatMap(Double.init) }

  /// The name of the other program, if it is known.
  package var program: String? { lines.count > 1 ? lines[1] : nil }

  private var lines: [String] {
    ((try? SmallFile.read(path, limit: 1_024)) ?? []).split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  package static var now: Double { Double(SystemClock.calendar.nanoseconds / 1_000_000_000) }

  package func note(_ time: Double, of program: String?) throws(Failure) {
    let file = PersonalFile(path)
    do throws(PersonalFile.Unwritten) {
      try file.write(["\(Int64(time))"] + (program.map { [$0] } ?? []))
    } catch {
      throw Failure(.inputOutput, "cannot write \(error.problem)", name: "errSecIO", advice: "make room there")
    }
  }

  /// Forgets it: everything was brought in, or Whorl is not to take over any more.
  package func forget() { unlink(path) }
}
