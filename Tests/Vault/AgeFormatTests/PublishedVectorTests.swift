import Glibc
import Keys
import Primitives
import ProgramDriver
import SecretModel
import Testing

/// The test vectors for age's format that C2SP publishes (CCTV), which are not part of this repository.
private let vectors: [String] = {
  let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
  let folder = getenv("WHORL_AGE_VECTORS").map { String(cString: $0) } ?? "/\(root)/../shared/age-vectors"
  let names = (try? folderEntries(folder)) ?? []
  if names.isEmpty {
    print(
      "skipped: no vectors of age's format in \(folder) (WHORL_AGE_VECTORS names the folder with C2SP/CCTV's files)")
  }
  return names.sorted().map { "\(folder)/\($0)" }
}()

/// A file of the vectors: what is said of it, and the file itself.
private struct Vector {
  /// The values of each key.
  private(set) var keys: [String: [String]] = [:]
  private(set) var file: [UInt8] = []

  init(_ path: String) async throws {
    let bytes = try readFile(path)
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self)
      rest = rest[(end + 1)...]
      if line.isEmpty { break }
      let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
      keys[parts[0], default: []].append(String(parts.last?.dropFirst() ?? ""))
    }
    file = keys["compressed"] == nil ? Array(rest) : try await Self.inflated(Array(rest))
  }

  private static func inflated(_ bytes: [UInt8]) async throws -> [UInt8] {
    let program = "import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))"
    let result = try await Invocation(program: "/usr/bin/python3", arguments: ["-c", program], input: bytes).run()
    try result.mustSucceed()
    return result.output
  }

  var expected: String { keys["expect"]?.first ?? "" }

  /// What opens the file. Empty for a vector of what Whorl does not have: the form for text, and post-quantum keys.
  var openings: [EncryptedFile.Opening] {
    guard keys["armored"] == nil else { return [] }
    return (keys["passphrase"] ?? []).map { .passphrase(shared($0)) }
      + (keys["identity"] ?? []).compactMap {
        Bech32.bytes(in: $0.lowercased(), prefix: "age-secret-key-").map { .privateKey(SharedSecret(secret($0))) }
      }
  }
}

@Suite("The published vectors of age's format")
struct PublishedVectorTests {
  @Test(
    "each published vector that is no file for text or for other keys gives the expected result",
    .enabled(if: !vectors.isEmpty), arguments: vectors)
  func vector(path: String) async throws {
    let vector = try await Vector(path)
    guard !vector.openings.isEmpty else { return }
    try await withFolder { folder in
      try writeFile("\(folder)/file", vector.file)
      let transfer = Transfer(path: "\(folder)/file")
      var contents: [UInt8]?
      var errors: [VaultError] = []
      for opening in vector.openings where contents == nil {
        do {
          contents = try transfer.decrypt(with: opening)
        } catch {
          errors.append(try #require(error as? VaultError))
        }
      }
      switch vector.expected {
      case "success":
        let digest = try HashFunction.sha256.digest(try #require(contents, "\(errors)"))
        #expect(Hexadecimal.text(of: digest) == vector.keys["payload"]?.first)
      case "no match":
        #expect(contents == nil)
        // The last one is that of a file with stanzas of kinds that are not known.
        let isForAnother = errors.allSatisfy { error in
          error == .wrongPassphrase || error == .fileUnreadable("it is encrypted to another public key")
            || error == .fileUnreadable("it is encrypted to a public key, not under a passphrase")
        }
        #expect(isForAnother, "\(errors)")
      case "HMAC failure": #expect(errors == [.fileUnreadable("its header was damaged")])
      case "header failure", "payload failure":
        #expect(contents == nil)
        for error in errors {
          guard case .fileUnreadable = error else {
            Issue.record("\(error)")
            continue
          }
        }
      case let other: Issue.record("a vector that expects \(other)")
      }
    }
  }
}
