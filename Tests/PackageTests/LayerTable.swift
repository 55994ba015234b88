/// The table of layers in CONTRIBUTING.md: the layer of each target, and the rules below the table.
struct LayerTable {
  /// A layer of the table. `T` holds the targets that support tests.
  enum Layer: Hashable {
    case number(Int)
    case testSupport
    case tests
  }

  let rows: [(layer: Layer, targets: [String])]

  /// Parses the first table whose heading begins with `| layer |`. The targets are the words in backticks in its second
  /// column.
  init(markdown: String) {
    let lines = markdown.split(separator: "\n", omittingEmptySubsequences: false)
    let table = lines.drop { !$0.hasPrefix("| layer |") }.dropFirst(2).prefix { $0.hasPrefix("|") }
    rows = table.compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingSpaces }
      guard cells.count >= 2, let layer = Self.layer(cells[0]) else { return nil }
      let targets = cells[1].split(separator: "`", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map { String($0.element) }
      return (layer, targets)
    }
  }

  var layers: [String: Layer] {
    Dictionary(rows.flatMap { row in row.targets.map { ($0, row.layer) } }) { first, _ in first }
  }

  var targets: [String] { rows.flatMap(\.targets) }

  private static func layer(_ cell: Substring) -> Layer? {
    switch cell {
    case "T": .testSupport
    case "tests": .tests
    default: Int(cell).map(Layer.number)
    }
  }
}

extension LayerTable.Layer {
  /// The rules below the table. A target uses lower layers only. Test support uses layers 0 to 7 and itself, and is
  /// used by tests, `WhorlTesting`, `whorl-finger` and `whorl-bench`.
  func mayUse(_ other: Self, asTarget name: String) -> Bool {
    switch (self, other) {
    case (_, .tests): false
    case (.tests, .number(9...)): false
    case (.tests, _): true
    case (.number(let upper), .number(let lower)): lower < upper
    case (.number, .testSupport): ["whorl-finger", "whorl-bench", "WhorlTesting"].contains(name)
    case (.testSupport, .number(let lower)): lower <= 7
    case (.testSupport, .testSupport): true
    }
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring {
    var rest = drop { $0 == " " }
    while rest.last == " " { rest.removeLast() }
    return rest
  }
}
