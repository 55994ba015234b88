/// The names under which `known_hosts` may have the host of a client, most likely first. They are only guesses: a name
/// is shown only if `known_hosts` has it for the host's key.
struct HostCandidates {
  /// The most names that are tried, and the longest, in bytes.
  private static let (limit, longest) = (256, 255)

  private(set) var names: [String] = []
  private var known: Set<String> = []

  init(_ arguments: ClientArguments, _ configurations: [ClientConfiguration]) {
    let sections = configurations.flatMap(\.sections)
    let host = arguments.destination?.host ?? ""
    let own = sections.filter { $0.hosts.matches(host) }.map(\.options)
    let ports = arguments.options.ports + own.flatMap(\.ports)
    for options in [arguments.options] + own { add(options, for: host, ports: ports) }
    if let destination = arguments.destination { add(destination, ports: ports) }
    for other in arguments.others { add(other, ports: arguments.options.ports) }
    for section in sections {
      let (names, ports) = (section.hosts.names, section.options.ports + arguments.options.ports)
      for name in names.isEmpty ? [""] : names {
        add(section.options, for: name, ports: ports)
        add(name, ports: ports)
      }
    }
  }

  private mutating func add(_ options: HostOptions, for name: String, ports: [String]) {
    for alias in options.aliases { add(alias, ports: []) }
    for hostName in options.hostNames(of: name) { add(hostName, ports: ports) }
  }

  private mutating func add(_ destination: ClientArguments.Destination, ports: [String]) {
    add(destination.host, ports: (destination.port.map { [$0] } ?? []) + ports)
  }

  private mutating func add(_ name: String, ports: [String]) {
    guard !name.isEmpty, names.count < Self.limit else { return }
    for candidate in ports.map({ HostName.text(name, port: $0) }) + [name]
    where names.count < Self.limit && candidate.utf8.count <= Self.longest && known.insert(candidate).inserted {
      names.append(candidate)
    }
  }
}
