/// A program that runs scripts, so that its own name does not say what runs.
struct Interpreter {
  private static let names = [
    "bash", "busybox", "dash", "gjs-console", "guile", "ksh", "lua", "node", "perl", "php", "python", "ruby", "tclsh",
    "zsh",
  ]
  /// After one of these options comes code, not the path of a script.
  private static let inlineOptions = ["-c", "-e", "-r"]

  /// Nil if the executable at this path is not a known interpreter.
  init?(_ path: String) {
    let file = path.split(separator: "/").last ?? ""
    // "python3.11" and "lua5.4" are "python" and "lua".
    let name = file.prefix { !$0.isNumber }
    guard Self.names.contains(name.hasSuffix("-") ? String(name.dropLast()) : String(name)) else { return nil }
  }

  /// The first argument that is not an option: a script, or the module after `-m`. Nil if there is none.
  func script(in arguments: [String]) -> String? {
    for argument in arguments.dropFirst() {
      if Self.inlineOptions.contains(argument) { return nil }
      if !argument.hasPrefix("-") { return argument }
    }
    return nil
  }
}
