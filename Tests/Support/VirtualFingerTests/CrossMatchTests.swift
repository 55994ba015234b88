import Primitives
import Testing
import VirtualFinger

@Suite("Synthetic fingers in the real matcher")
struct CrossMatchTests {
  @Test("every new impression of a synthetic finger matches that finger and no other")
  func matrix() async throws {
    let fingers = (1...2).flatMap { person in
      Finger.allCases.map { SyntheticFinger(person: person, finger: $0) }
    }
    let impressions: Range<UInt64> = 5..<15
    try await ImageReader.with { reader in
      try await reader.open()
      var prints: [EnrolledPrint] = []
      for (index, finger) in fingers.enumerated() {
        prints.append(try await reader.enroll(finger, UInt8(index)))
      }
      var falseRejects: [String] = []
      var falseAccepts: [String] = []
      for (index, finger) in fingers.enumerated() {
        // The finger's own print comes last, so the matcher must first reject all others.
        let others = prints[..<index] + prints[(index + 1)...]
        for number in impressions {
          let image = finger.impression(number)
          let outcome = try await reader.identify(others + [prints[index]]) { try reader.touches.press(image) }
          switch outcome {
          case .match(prints[index].id): break
          case .match(let other):
            let taken = fingers[Int(other.bytes[0])]
            falseAccepts.append("\(finger.name) #\(number) for \(taken.name)")
          case .noMatch, .retry: falseRejects.append("\(finger.name) #\(number): \(outcome)")
          }
        }
      }
      let presses = fingers.count * impressions.count
      print(
        "\(fingers.count) fingers, \(presses) presses, each against \(fingers.count) prints: "
          + "\(falseAccepts.count) false accepts, \(falseRejects.count) false rejects")
      #expect(falseAccepts.isEmpty)
      #expect(falseRejects.count * 50 <= presses, "more than 2%: \(falseRejects)")
    }
  }
}

extension SyntheticFinger {
  fileprivate var name: String { "person \(person)'s \(finger.spokenName)" }
}
