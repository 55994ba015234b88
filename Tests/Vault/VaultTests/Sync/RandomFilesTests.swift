import Primitives
import SecretModel
import Testing
import VaultDriver

@testable import VaultSync

@Suite("Random changes of a repository's files")
struct RandomFilesTests {
  @Test("random changes of synced files or of their decrypted contents change no item", .timeLimit(.minutes(60)))
  func random() async throws {
    let repository = MemoryRepository()
    let machines = try await repository.circle("desk", "lap")
    let desk = machines[0]
    try await machines[1].set("mail", "gold")
    for machine in [machines[1], desk] { try await machine.sync(repository) }
    let (tip, circle) = (repository.tip, try await machines[1].vault.circle)
    let paths = tip.keys.sorted()
    var random = Campaign.Generator("files of a repository")
    for number in 1...Campaign.count(short: 150, long: 20_000) {
      let path = paths[Int.random(in: 0..<paths.count, using: &random)]
      guard let file = tip[path] else { continue }
      let isInside = path.hasPrefix("items/") && number.isMultiple(of: 2)
      let contents = isInside ? try inside(file, circle, &random) : changed(file, &random)
      guard contents != file else { continue }
      let receipt = try await receive(tip.merging([path: contents]) { $1 }, by: desk)
      #expect(receipt.changed.isEmpty && receipt.removed.isEmpty && receipt.kept.isEmpty, "\(number): \(path)")
      if path.hasPrefix("items/") || path.hasPrefix("circle/") {
        #expect(receipt.refused.map(\.path) == [path] || receipt.wentBack, "\(number): \(path)")
      }
      #expect(try await desk.items == ["mail": "gold"], "\(number): \(path)")
      _ = try await receive(tip, by: desk)
    }
    #expect(try await desk.status.members.count == 2)
  }

  /// A file of a later format ends the call; nothing of it is taken then either.
  private func receive(_ files: MemoryRepository.Files, by machine: SyncMachine) async throws -> SyncReceipt {
    do {
      return try await machine.receive(files)
    } catch VaultError.newerFormat {
      return SyncReceipt()
    }
  }

  /// The same file with other contents, encrypted to the members again, as every reader of the repository can do.
  private func inside(
    _ file: [UInt8], _ circle: Circle, _ random: inout Campaign.Generator
  ) throws -> [UInt8] {
    let contents = try AgeMessage.open(file, with: circle.keys.encryption).withUnsafeBytes { Array($0) }
    let other = changed(contents, &random)
    guard other != contents else { return file }
    return try AgeMessage.seal(SecretBytes(copying: other.span), to: circle.members.recipients, epoch: circle.epoch)
  }

  /// Some bytes changed, cut off, repeated or put in.
  private func changed(_ bytes: [UInt8], _ random: inout Campaign.Generator) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where !bytes.isEmpty: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.removeLast(bytes.count - place)
      case 2: bytes.insert(contentsOf: bytes.suffix(place), at: place)
      case 3: bytes.insert(UInt8.random(in: 0...255, using: &random), at: min(place, bytes.count))
      case _ where !bytes.isEmpty: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      default: break
      }
    }
    return bytes
  }
}
