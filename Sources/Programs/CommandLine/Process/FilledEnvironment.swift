import Glibc
import Primitives

/// The environment of a command: that of this program, with variables that hold secrets.
struct FilledEnvironment {
  /// "NAME=", the value and a NUL each, in memory that is wiped.
  private let entries: [SharedSecret]
  /// "NAME=" of each.
  private let replaced: [[UInt8]]

  init(_ variables: [(name: String, value: SharedSecret)]) {
    let named = variables.map { (begin: Array("\($0.name)=".utf8), value: $0.value) }
    replaced = named.map(\.begin)
    entries = named.map { SharedSecret(SecretBytes(joining: $0.begin, $0.value.bytes, [0])) }
  }

  /// Lends the environment to a call that starts a program.
  func lend<Value, Problem: Error>(
    _ start: (UnsafePointer<UnsafeMutablePointer<CChar>?>) throws(Problem) -> Value
  ) throws(Problem) -> Value {
    // `environ` and its strings belong to the C library; they are lent for the call.
    var environment: [UnsafeMutablePointer<CChar>?] = []
    var next = environ
    while let entry = next.pointee {
      let isReplaced = replaced.contains { prefix in
        prefix.enumerated().allSatisfy { UInt8(bitPattern: entry[$0.offset]) == $0.element }
      }
      if !isReplaced { environment.append(entry) }
      next += 1
    }
    for entry in entries {
      // The pointer stays valid after this call, as long as `entries` exists.
      environment.append(
        entry.bytes.withUnsafeBytes {
          UnsafeMutableRawPointer(mutating: $0.baseAddress)?.assumingMemoryBound(to: CChar.self)
        })
    }
    environment.append(nil)
    defer { withExtendedLifetime(entries) {} }
    return try start(environment)
  }
}
