/// Which reader to use: the value of `--reader`.
public enum ReaderSelection: Sendable, Hashable, CustomStringConvertible {
  /// The first physical reader there is.
  case automatic
  /// A physical reader through libfprint: the first, or the one whose id or name is given.
  case libfprint(device: String?)
  /// libfprint's virtual image reader, on a socket it makes at this path.
  case virtualImage(socket: String)
  /// libfprint's virtual match-on-chip reader, on a socket it makes at this path.
  case virtualStorage(socket: String)
  /// A recording, replayed under `umockdev-run`.
  case replay(directory: String)

  /// Reads the words of `--reader`; nil when they name no kind of reader.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let argument = parts.count == 2 ? String(parts[1]) : nil
    switch (parts.first, argument) {
    case ("auto", nil): self = .automatic
    case ("libfprint", nil): self = .libfprint(device: nil)
    case ("libfprint", .some(let device)) where !device.isEmpty: self = .libfprint(device: device)
    case ("virtual-image", .some(let socket)) where !socket.isEmpty: self = .virtualImage(socket: socket)
    case ("virtual-storage", .some(let socket)) where !socket.isEmpty: self = .virtualStorage(socket: socket)
    case ("replay", .some(let directory)) where !directory.isEmpty: self = .replay(directory: directory)
    default: return nil
    }
  }

  /// How the readers of a process started for this selection are driven.
  public var nature: ReaderDescription.Nature {
    switch self {
    case .automatic, .libfprint: .physical
    case .virtualImage, .virtualStorage: .virtual
    case .replay: .replayed
    }
  }

  /// The words that `init(_:)` reads.
  public var description: String {
    switch self {
    case .automatic: "auto"
    case .libfprint(.none): "libfprint"
    case .libfprint(.some(let device)): "libfprint:\(device)"
    case .virtualImage(let socket): "virtual-image:\(socket)"
    case .virtualStorage(let socket): "virtual-storage:\(socket)"
    case .replay(let directory): "replay:\(directory)"
    }
  }
}
