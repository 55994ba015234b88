import FoundationEssentials

/// The memory of processes and their children.
enum ChildMemory {
  /// The proportional set size of all children of this process together, in KiB: private pages, and a share of those that
  /// other processes use too.
  static func proportionalKiB() throws -> Int { try sum(of: children(of: "self"), "the children of this process") }

  /// The same of a process, whose number a file has, and its children.
  static func proportionalKiB(ofProcessIn file: String) throws -> Int {
    let process = try SmallText.lines(of: file).first ?? ""
    return try sum(of: [process] + children(of: process), "the process in \(file)")
  }

  private static func sum(of processes: [String], _ name: String) throws -> Int {
    let sum = processes.reduce(0) { $0 + proportionalKiB(of: $1) }
    guard sum > 0 else { throw BenchFailure("\(name) cannot be measured: ended, or started by another process") }
    return sum
  }

  private static func children(of process: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").flatMap { task in
      // A thread may have ended meanwhile.
      let line = (try? SmallText.lines(of: "/proc/\(process)/task/\(task)/children"))?.first ?? ""
      return line.split(separator: " ").map(String.init)
    }
  }

  /// Zero for a process that has ended meanwhile.
  private static func proportionalKiB(of process: String) -> Int {
    let lines = (try? SmallText.lines(of: "/proc/\(process)/smaps_rollup")) ?? []
    let line = lines.first { $0.hasPrefix("Pss:") }
    return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
  }
}

/// A short text file.
enum SmallText {
  static func lines(of path: String) throws -> [String] {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
