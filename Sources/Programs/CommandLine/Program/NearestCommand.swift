/// The command that a person probably meant by an unknown word.
enum NearestCommand {
  /// What commands do, in the words of other programs.
  private static let synonyms = [
    "add": "set", "agent": "ssh", "cat": "get", "create": "init", "delete": "rm", "exec": "run", "keyring": "login",
    "list": "ls", "new": "init", "password": "passcode", "pin": "passcode", "print": "get", "put": "set", "read": "get",
    "remove": "rm", "save": "set", "show": "get", "store": "set", "wallet": "login",
  ]

  /// - Parameter known: the commands that there are.
  static func of(_ word: String, among known: [String]) -> String? {
    let word = word.lowercased()
    if let meant = synonyms[word], known.contains(meant) { return meant }
    // A short word is near to too many others.
    let limit = word.count < 5 ? 1 : 2
    let near = known.map { ($0, distance(from: Array(word), to: Array($0))) }.filter { $0.1 <= limit }
    return near.min { $0.1 < $1.1 }?.0
  }

  /// How many letters have to be added, left out, replaced, or exchanged with their neighbour (the optimal string
  /// alignment distance).
  private static func distance(from word: [Character], to other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for (row, letter) in word.enumerated() {
      var next = [row + 1]
      for (column, wanted) in other.enumerated() {
        var least = min(rows[row][column + 1] + 1, next[column] + 1, rows[row][column] + (letter == wanted ? 0 : 1))
        if row > 0, column > 0, letter == other[column - 1], word[row - 1] == wanted {
          least = min(least, rows[row - 1][column - 1] + 1)
        }
        next.append(least)
      }
      rows.append(next)
    }
    return rows[word.count][other.count]
  }
}
