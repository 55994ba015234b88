internal import Primitives

/// The command line of the reader process, as written by ``ReaderCommand`` and the system units.
struct ReaderProcessOptions {
  var selection: ReaderSelection
  var fprintd = FprintdPlace.system
  /// The bus that logind is on. Tests use a bus of their own.
  var systemBus = FprintdPlace.system.bus

  /// For a system unit: the name of the user whose programs it serves, on the socket that systemd has passed. Nil for a
  /// child process.
  var unitPeer: String?
  /// How long an unused unit keeps running.
  var idleLimit = Duration.seconds(30)

  /// Runs under `umockdev-record`, which logs the traffic with a physical reader.
  var isTraced = false

  /// Nil if an argument is unknown.
  init?(_ words: some Sequence<String>) {
    var selection: ReaderSelection?
    var bus: String?
    var templates: String?
    var words = words.makeIterator()
    while let word = words.next() {
      guard let value = words.next() else { return nil }
      switch word {
      case "--reader": selection = ReaderSelection(value)
      case "--system-bus": systemBus = value
      case "--fprintd-bus": bus = value
      case "--fprintd-templates": templates = value
      case "--unit-for": unitPeer = value
      case "--idle-seconds":
        guard let seconds = Int(value), seconds > 0 else { return nil }
        idleLimit = .seconds(seconds)
      case "--traced": isTraced = value == "yes"
      default: return nil
      }
    }
    guard let selection, (bus == nil) == (templates == nil) else { return nil }
    self.selection = selection
    if let bus, let templates { fprintd = FprintdPlace(bus: bus, templates: templates) }
  }
}
