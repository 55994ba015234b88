import FoundationEssentials

/// The memory of this process's children.
enum ChildMemory {
  /// The proportional set size of all children together, in KiB: private pages, and a share of those that other processes
  /// use too.
  static func proportionalKiB() throws -> Int {
    var sum = 0
    for task in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
      let children = (try? text("/proc/self/task/\(task)/children")) ?? ""
      for child in children.split(separator: " ") {
        let line = try text("/proc/\(child)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss:") }
        sum += line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
      }
    }
    guard sum > 0 else { throw BenchFailure("whorld is not a child of this process") }
    return sum
  }

  private static func text(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
  }
}
