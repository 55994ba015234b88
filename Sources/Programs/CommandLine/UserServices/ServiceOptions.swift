import Whorl

/// The options of a command that are also set for its service: the store and the reader.
struct ServiceOptions {
  /// Each option and its value, such as `--store` and `/srv/store`.
  let words: [String]

  init(words: [String]) { self.words = words }

  /// - Throws: for a value that some service files cannot contain.
  init(_ options: GlobalOptions) throws(Failure) {
    let given = [
      ("--config", options.config.map(FullPath.of)), ("--store", options.store.map(FullPath.of)),
      ("--reader", options.reader?.description),
    ]
    for case (let name, let value?) in given where !UnitWord.isLine(value) || value.contains("\\") {
      throw .usage(
        "a service cannot have the value of \(name): it has a control character or a backslash",
        advice: "use another path")
    }
    words = given.flatMap { name, value in value.map { [name, $0] } ?? [] }
  }

  var isEmpty: Bool { words.isEmpty }

  /// For the command of a unit: a space and the words, or nothing.
  var inUnit: String { words.map { " " + ($0.hasPrefix("--") ? $0 : UnitWord.quoted($0)) }.joined() }

  /// The same for the command of a service file of the bus.
  var onBus: String { words.map { " " + BusWord.quoted($0) }.joined() }
}
