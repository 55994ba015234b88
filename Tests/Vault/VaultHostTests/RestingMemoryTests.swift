import Glibc
import ProgramDriver
import Testing
import VaultHost

@Suite("The memory of an idle vault")
struct RestingMemoryTests {
  @Test("an idle vault keeps little of the program's code in memory, and the program continues")
  func unmapped() async {
    await #expect(processExitsWith: .success) {
      let before = try residentCode()
      guard before > 1_000 else { exit(EXIT_FAILURE) }
      RestingMemory.begin(after: .milliseconds(20))
      alarm(30)
      // This loop's own code is mapped again each time.
      while try residentCode() > before / 2 { usleep(10_000) }
      exit(EXIT_SUCCESS)
    }
  }
}

/// The resident pages of the program's code, in KiB.
private func residentCode() throws -> Int {
  let lines = String(decoding: try readFile("/proc/self/smaps"), as: UTF8.self).split(separator: "\n")
  var isCode = false
  var sum = 0
  for line in lines {
    let words = line.split(separator: " ")
    if words.count >= 5, words[0].contains("-") {
      isCode = words[1] == "r-xp" && words.last?.hasSuffix(".xctest") == true
    } else if isCode, words.first == "Rss:", words.count > 1 {
      sum += Int(words[1]) ?? 0
    }
  }
  return sum
}
