import Foundation
import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import Presence
@testable import Vault
@testable import VaultItems
@testable import VaultStore
@testable import VaultSync

@Suite("Extreme numbers in the files of a repository", .timeLimit(.minutes(60)))
struct ExtremeFilesTests {
  @Test("a vault takes or refuses signed files with the extremes of each number in them, and goes on")
  func files() async {
    // In a new process, since a trap ends it.
    await onOwnThread {
      await #expect(processExitsWith: .success) { try await receiveExtremes() }
    }
  }
}

/// What JSON can say where a number is expected.
private let extremes = [
  "0", "-0", "-1", "0.5", "1e308", "-1e308", "1e400", "4294967295", "2147483648", "9007199254740991",
  "9007199254740992",
  "9007199254740993", "9223372036854775807", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
  "1\(String(repeating: "0", count: 400))",
]

private func receiveExtremes() async throws {
  let repository = MemoryRepository()
  let machines = try await repository.circle("desk", "lap")
  let (desk, lap) = (machines[0], machines[1])
  try await lap.set("mail", "gold")
  for machine in machines { try await machine.sync(repository) }
  let circle = try await lap.vault.circle
  let member = LyingMember(circle)
  let forgery = try Forgery(by: circle)
  var count = 0

  func receive(_ path: String, _ file: [UInt8], _ what: String) async throws {
    count += 1
    do {
      _ = try await desk.receive(repository.tip.merging([path: file]) { $1 })
      _ = try await desk.receive(repository.tip)
    } catch is VaultError {}
    #expect(try await desk.get("mail") == "gold", "\(what)")
    _ = try await desk.status
  }

  for (path, kind) in [
    (SyncPath.head(circle.id).text, SignedLine.Kind.head), (SyncPath.circle(circle.epoch).text, .circle),
  ] {
    let line = try SignedLine(parsing: try #require(repository.tip[path])).line
    for changed in member.variants(of: line) {
      let file = try member.signed(changed, kind)
      let shown = String(decoding: changed.suffix(300), as: UTF8.self)
      try await receive(path, file, shown)
      // As the next list of members.
      if kind == .circle { try await receive(SyncPath.circle(circle.epoch + 1).text, file, shown) }
    }
  }
  var dated = forgery
  dated.item.attributes[.port] = .number(1)
  dated.item.attributes[AttributeName(rawValue: "when")] = .date(1)
  let (path, file) = try dated.file()
  let contents = try AgeMessage.open(file, with: circle.keys.encryption).withUnsafeBytes { Array($0) }
  let signed = try SignedLine(parsing: contents)
  for changed in member.variants(of: signed.line) {
    let inside = try member.signed(changed, .item, in: circle.circle) + contents.dropFirst(signed.bytes.count)
    let again = try AgeMessage.seal(
      SecretBytes(copying: inside.span), to: circle.members.recipients, epoch: circle.epoch)
    try await receive(path, again, String(decoding: changed, as: UTF8.self))
  }
  // Numbers outside of the signed lines: that of the members' list in a file, and those in paths.
  for epoch in [0, -1, .min, .max, 1 << 53, Int(Int32.max)] {
    try await receive(
      path, AgeMessage.seal(SecretBytes(copying: contents.span), to: circle.members.recipients, epoch: epoch),
      "\(epoch)")
  }
  for name in ["0", "00000000", "99999999", "4294967296", "18446744073709551616", "-1"] {
    try await receive("circle/\(name)", repository.tip[SyncPath.circle(1).text] ?? [], name)
  }
  #expect(count > 200)
  try await desk.set("mail", "silver")
  #expect(try await desk.get("mail") == "silver")
}

/// Signs any line with a member's keys.
private struct LyingMember {
  private let circle: Circle

  init(_ circle: Circle) { self.circle = circle }

  /// The line with each of its numbers, one at a time, replaced by each extreme.
  func variants(of line: [UInt8]) -> [[UInt8]] {
    let text = String(decoding: line, as: UTF8.self)
    return text.matches(of: /[:,\[](-?\d+(?:\.\d+)?)(?=[,}\]])/).flatMap { match in
      let place = match.output.1.startIndex..<match.output.1.endIndex
      return extremes.map { Array(text.replacingCharacters(in: place, with: $0).utf8) }
    }
  }

  func signed(_ line: [UInt8], _ kind: SignedLine.Kind, in circle: String? = nil) throws -> [UInt8] {
    let message = Array("whorl-sync \(kind.rawValue)\n\(circle.map { "\($0)\n" } ?? "")".utf8) + line
    let signature = try self.circle.keys.sign(SecretBytes(copying: message.span))
    return line + Array("signature \(self.circle.id) \(Base64URL.text(of: signature))\n".utf8)
  }
}
