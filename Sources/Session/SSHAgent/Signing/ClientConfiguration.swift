internal import Primitives

/// The names and ports of hosts in an `ssh_config` file. `Include` is not followed, and `Match` is not evaluated.
struct ClientConfiguration {
  /// The lines for some hosts: those before the first `Host`, and those after each `Host` and `Match`.
  struct Section {
    /// The hosts that it applies to; none for a `Match`.
    fileprivate(set) var hosts: HostPatterns
    fileprivate(set) var options = HostOptions()
  }

  /// The longest file that is read, in bytes.
  private static let limit = 1 << 20

  private(set) var sections = [Section(hosts: HostPatterns(["*"]))]

  /// Empty for something that is missing, longer than 1 MiB or not a regular file.
  init(file: String) {
    guard let bytes = try? SmallFile.read(file, limit: Self.limit) else { return }
    for line in bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      guard let option = SSHOption(String(decoding: line, as: UTF8.self)) else { continue }
      switch option.keyword {
      case "host": sections.append(Section(hosts: HostPatterns(option.words)))
      case "match": sections.append(Section(hosts: HostPatterns([String]())))
      default: sections[sections.count - 1].options.add(option)
      }
    }
  }
}

/// The options of `ssh` that decide under which name `known_hosts` has a host.
struct HostOptions {
  /// The names of `HostKeyAlias`, which are looked up as they are, without a port.
  private(set) var aliases: [String] = []
  private(set) var ports: [String] = []
  private var hostNames: [String] = []

  mutating func add(_ option: SSHOption) {
    guard let value = option.words.first else { return }
    switch option.keyword {
    case "hostkeyalias": aliases.append(value)
    case "hostname": hostNames.append(value)
    case "port": add(port: value)
    default: break
    }
  }

  mutating func add(port: String) {
    if HostName.isPort(port), !ports.contains(port) { ports.append(port) }
  }

  /// The names of `HostName` for a name on the command line, in which `%h` stands for that.
  func hostNames(of name: String) -> [String] {
    hostNames.map {
      $0.split(separator: "%%", omittingEmptySubsequences: false).map { $0.replacing("%h", with: name) }
        .joined(separator: "%")
    }
  }
}
