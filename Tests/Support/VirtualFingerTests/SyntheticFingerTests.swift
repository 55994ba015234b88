import Primitives
import Testing
import VirtualFinger

@Suite("Synthetic fingers")
struct SyntheticFingerTests {
  private let finger = SyntheticFinger(person: 1, finger: .rightIndex)

  @Test("the same touch of the same synthetic finger gives the same image")
  func deterministic() {
    #expect(finger.impression(7) == SyntheticFinger(person: 1, finger: .rightIndex).impression(7))
  }

  @Test("a synthetic finger is the same in every release")
  func frozen() {
    let image = finger.impression(0)
    var seen = ""
    for row in stride(from: 48, to: 240, by: 16) {
      for column in stride(from: 48, to: 208, by: 16) {
        seen += image.pixels[row * image.width + column] < 128 ? "#" : "."
      }
    }
    let expected =
      "......#......##..#.....#.#####.#...#..#..#...#.#.##.#.#.#..#..#.##..###.#..##.#..###.....#.##..#.....##..#.##......#...."
    // On another machine floating-point results may differ in the last bit, and change the colour of points on the edge
    // of a ridge.
    #expect(zip(seen, expected).count { $0 == $1 } >= seen.count - 4, "\(seen)")
  }

  @Test("every touch, finger and person gives a different synthetic image")
  func different() {
    let images = [
      finger.impression(0), finger.impression(1), SyntheticFinger(person: 1, finger: .leftIndex).impression(0),
      SyntheticFinger(person: 2, finger: .rightIndex).impression(0),
      SyntheticFinger(person: -1, finger: .rightIndex).impression(0),
    ]
    #expect(Set(images).count == images.count)
  }

  @Test("a synthetic image looks like a 500 dpi scan: dark ridges about 9 pixels apart on white")
  func looks() {
    let image = finger.impression(0)
    #expect(image.width == 256 && image.height == 288)
    let corners = [0, image.width - 1, image.pixels.count - image.width, image.pixels.count - 1]
    #expect(corners.allSatisfy { image.pixels[$0] > 200 })
    // Whatever their direction, ridges cross the middle row or the middle column.
    func crossings(_ values: [UInt8]) -> Int { zip(values, values.dropFirst()).count { $0 >= 128 && $1 < 128 } }
    let rows = (120..<170).map { row in
      crossings(Array(image.pixels[row * image.width + 78..<row * image.width + 178]))
    }
    let columns = (100..<156).map { column in
      crossings((94..<194).map { image.pixels[$0 * image.width + column] })
    }
    #expect((5...40).contains(max(rows.max() ?? 0, columns.max() ?? 0)))
  }
}
