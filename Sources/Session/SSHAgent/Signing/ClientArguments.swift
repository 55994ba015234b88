/// The host in the command line of `ssh`. The client controls its command line, so it may be false.
struct ClientArguments {
  /// The options that take a value, for getopt(3).
  private static let valued = "BbcDEeFIiJLlmOopQRSWw"

  /// The first argument that is not an option: where `ssh` connects to.
  private(set) var destination: Destination?
  private(set) var options = HostOptions()
  /// The arguments after it, and the values of other options: names for clients other than `ssh`.
  private(set) var others: [Destination] = []

  init(_ arguments: [String]) {
    var words = arguments.dropFirst()[...]
    while let word = words.popFirst() {
      guard word.hasPrefix("-"), word != "-" else {
        if destination == nil { destination = Destination(word) } else { others.append(Destination(word)) }
        continue
      }
      guard let place = word.dropFirst().firstIndex(where: Self.valued.contains) else { continue }
      let attached = word[word.index(after: place)...]
      guard let value = attached.isEmpty ? words.popFirst() : String(attached) else { continue }
      switch word[place] {
      case "p": options.add(port: value)
      case "o": if let option = SSHOption(value) { options.add(option) }
      case "l": break
      default: others.append(Destination(value))
      }
    }
  }

  /// A word that names a host: `[USER@]HOST` or `ssh://[USER@]HOST[:PORT]`, with or without brackets around an address
  /// of IPv6.
  struct Destination {
    let host: String
    /// Nil without one.
    let port: String?

    init(_ word: String) {
      let scheme = "ssh://"
      guard word.lowercased().hasPrefix(scheme) else {
        (host, port) = (Self.unbracketed(Self.withoutUser(word[...])), nil)
        return
      }
      let text = Self.withoutUser(word.dropFirst(scheme.count).prefix { $0 != "/" })
      guard let colon = text.lastIndex(of: ":"), HostName.isPort(text[text.index(after: colon)...]) else {
        (host, port) = (Self.unbracketed(text), nil)
        return
      }
      (host, port) = (Self.unbracketed(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    private static func withoutUser(_ text: Substring) -> Substring {
      text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text
    }

    private static func unbracketed(_ text: Substring) -> String {
      text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : String(text)
    }
  }
}
