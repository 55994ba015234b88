/// Says how the columns of an entry count beside each other, so that each of its values has a label of its own.
///
/// A label follows from the names of the columns alone, and never from which of them are empty on a line.
struct CSVLabels: Sendable {
  private var taken: Set<CSVColumn> = []
  private var numbers = LabelNumbers()

  /// The next column. Of two columns of one kind, the second counts as an unknown one with its own name; of two unknown
  /// columns with one name, the second is numbered.
  mutating func next(_ column: CSVColumn, named name: String) -> CSVColumn {
    switch column {
    case .ignored, .lines: return column
    case .other: return .other(numbers.next(name.lowercased()))
    default: break
    }
    guard taken.insert(column).inserted else {
      // Buttercup names its folders twice.
      return column == .folder || column == .kind
        ? .ignored(name.lowercased()) : .other(numbers.next(name.lowercased()))
    }
    if let label = column.label { _ = numbers.next(label) }
    return column
  }
}
