/// Which reader to use: the value of `--reader`.
public enum ReaderSelection: Sendable, Hashable, CustomStringConvertible {
  /// fprintd's first reader, or else the first physical one through libfprint.
  case automatic
  /// A reader through fprintd, with the fingers enrolled there: the first, or the one whose id or name is given.
  case fprintd(device: String?)
  /// A physical reader through libfprint: the first, or the one whose id or name is given.
  case libfprint(device: String?)
  /// libfprint's virtual image reader, on a socket it makes at this path.
  case virtualImage(socket: String)
  /// libfprint's virtual match-on-chip reader, on a socket it makes at this path.
  case virtualStorage(socket: String)
  /// A recording, replayed under `umockdev-run`.
  case replay(directory: String)

  /// Parses the value of `--reader`; nil if it is invalid.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let argument = parts.count == 2 ? String(parts[1]) : nil
    if let adapter = ReaderAdapter(rawValue: String(parts[0])), argument?.isEmpty != true {
      self.init(adapter, device: argument)
      return
    }
    switch (parts.first, argument) {
    case ("auto", nil): self = .automatic
    case ("virtual-image", .some(let socket)) where !socket.isEmpty: self = .virtualImage(socket: socket)
    case ("virtual-storage", .some(let socket)) where !socket.isEmpty: self = .virtualStorage(socket: socket)
    case ("replay", .some(let directory)) where !directory.isEmpty: self = .replay(directory: directory)
    default: return nil
    }
  }

  /// The readers of one adapter: the first, or the one whose id or name is given.
  package init(_ adapter: ReaderAdapter, device: String?) {
    self =
      switch adapter {
      case .fprintd: .fprintd(device: device)
      case .libfprint: .libfprint(device: device)
      }
  }

  /// The adapter of the selected readers; nil for any.
  package var adapter: ReaderAdapter? {
    switch self {
    case .automatic: nil
    case .fprintd: .fprintd
    case .libfprint, .virtualImage, .virtualStorage, .replay: .libfprint
    }
  }

  /// The id or name of the wanted reader; nil for the first.
  package var device: String? {
    switch self {
    case .fprintd(let device), .libfprint(let device): device
    default: nil
    }
  }

  /// The nature of the readers in a process started for this selection, except for those of an fprintd at a configured
  /// place.
  public var nature: ReaderDescription.Nature {
    switch self {
    case .virtualImage, .virtualStorage: .virtual
    case .replay: .replayed
    default: .physical
    }
  }

  /// The text that `init(_:)` parses.
  public var description: String {
    switch self {
    case .automatic: "auto"
    case .fprintd(let device), .libfprint(let device):
      ([adapter?.rawValue, device].compactMap(\.self)).joined(separator: ":")
    case .virtualImage(let socket): "virtual-image:\(socket)"
    case .virtualStorage(let socket): "virtual-storage:\(socket)"
    case .replay(let directory): "replay:\(directory)"
    }
  }
}

/// Where fprintd is: the bus it serves and the folder it keeps its templates in.
package struct FprintdPlace: Sendable, Hashable {
  /// The address of the bus: `unix:path=` and a full path.
  package var bus: String
  /// The folder of templates: `USER/DRIVER/DEVICE/FINGER` below it.
  package var templates: String

  package init(bus: String, templates: String) {
    self.bus = bus
    self.templates = templates
  }

  /// The machine's own fprintd. Only its readers are physical, and it must run as root.
  package static let system = FprintdPlace(
    bus: "unix:path=/run/dbus/system_bus_socket", templates: "/var/lib/fprint")
}
