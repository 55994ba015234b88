internal import ArgumentParser
internal import Primitives
internal import VirtualFinger

@main
struct WhorlFinger: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whorl-finger",
    abstract: "Press a synthetic finger on a virtual reader.",
    discussion: """
      For trying Whorl, and testing it, on a machine without a fingerprint reader. Start Whorl with \
      `--reader virtual-image:SOCKET`; when it asks for a finger, press one:

        whorl-finger press right-index --socket SOCKET
        whorl-finger press right-index --person 2 --socket SOCKET    another person's finger
        whorl-finger press right-index --count 5 --socket SOCKET     enrols it

      Each person has ten fingers, the same on every machine; each press gives a new impression. A press waits until a \
      program has opened the reader and asks for a finger.

      With `--reader virtual-storage:SOCKET` the reader compares prints on its own chip, and a finger is any word:

        whorl-finger scan ANY-WORD --socket SOCKET

      Exit status: 0 done, 64 wrong usage, 69 no reader at the socket, 74 an image file cannot be read or written, \
      75 the reader asked for no finger in time.
      """,
    subcommands: [Press.self, Retry.self, Unplug.self, Scan.self, Image.self])
}

struct Press: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Press a finger, or the image of one.",
    discussion: """
      Examples:
        whorl-finger press right-index --socket SOCKET
        whorl-finger press --image print.png --count 5 --socket SOCKET
      """)

  @Argument(help: "Which finger: left-thumb … left-little, right-thumb … right-little.")
  var finger: Finger?
  @Option(help: "Whose finger: any number.")
  var person = 1
  @Option(help: "Which impression of it: any number; a fresh one by default.")
  var impression: UInt64?
  @Option(help: "Press the image in this PNG file instead of a finger; dark ridges on white.")
  var image: String?
  @Option(help: "How often to press.")
  var count = 1
  @Option(help: "Milliseconds from one press to the next.")
  var gap = 500
  @OptionGroup var reader: ReaderOptions

  func validate() throws {
    guard (finger == nil) != (image == nil) else {
      throw ValidationError("Name a finger, or an image with --image.")
    }
    guard (1...1000).contains(count) else { throw ValidationError("--count takes 1 to 1000.") }
    guard (0...60_000).contains(gap) else { throw ValidationError("--gap takes 0 to 60000 milliseconds.") }
    guard case .image = reader.kind else {
      throw ValidationError("That reader takes no images: use `whorl-finger scan`.")
    }
  }

  func run() throws {
    try reportingFailures {
      let prints = try images()
      let reader = VirtualImageReader(socket: reader.path, patience: reader.patience)
      for (index, print) in prints.enumerated() {
        if index > 0 { pause(milliseconds: gap) }
        try reader.press(print)
      }
    }
  }

  private func images() throws -> [GrayImage] {
    if let image { return Array(repeating: try GrayImage(png: image), count: count) }
    guard let finger else { return [] }
    let grown = SyntheticFinger(person: person, finger: finger)
    let first = impression ?? .random(in: .min ... .max)
    return (0..<count).map { grown.impression(first &+ UInt64($0)) }
  }
}

struct Retry: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "End the running scan as one to be repeated: too short, off centre, and so on.",
    discussion: """
      Example:
        whorl-finger retry too-short --socket SOCKET
      """)

  @Argument(help: "Why: general, too-short, center-finger, remove-finger.")
  var reason: RetryReason
  @OptionGroup var reader: ReaderOptions

  func run() throws {
    try reportingFailures {
      switch reader.kind {
      case .image: try VirtualImageReader(socket: reader.path, patience: reader.patience).retry(reason)
      case .storage: try VirtualStorageReader(socket: reader.path, patience: reader.patience).retry(reason)
      }
    }
  }
}

struct Unplug: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Unplug the reader.",
    discussion: """
      A storage reader disappears like a real one. An image reader cannot: its running scan ends with the error \
      \"removed\".

      Example:
        whorl-finger unplug --socket virtual-storage:SOCKET
      """)

  @OptionGroup var reader: ReaderOptions

  func run() throws {
    try reportingFailures {
      switch reader.kind {
      case .image: try VirtualImageReader(socket: reader.path, patience: reader.patience).deviceError(.removed)
      case .storage: try VirtualStorageReader(socket: reader.path, patience: reader.patience).unplug()
      }
    }
  }
}

struct Scan: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Present a named finger to a reader that matches on its chip.",
    discussion: """
      Example:
        whorl-finger scan anna-right --socket SOCKET
      """)

  @Argument(help: "The finger: any word.")
  var id: String
  @OptionGroup var reader: ReaderOptions

  func run() throws {
    try reportingFailures {
      try VirtualStorageReader(socket: reader.path, patience: reader.patience).scan(id)
    }
  }
}

struct Image: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write an impression to a PNG file.",
    discussion: """
      Example:
        whorl-finger image right-index --person 2 --output print.png
      """)

  @Argument(help: "Which finger: left-thumb … left-little, right-thumb … right-little.")
  var finger: Finger
  @Option(help: "Whose finger: any number.")
  var person = 1
  @Option(help: "Which impression of it: any number.")
  var impression: UInt64 = 0
  @Option(name: .shortAndLong, help: "The file to write.")
  var output: String

  func run() throws {
    try reportingFailures {
      try SyntheticFinger(person: person, finger: finger).impression(impression).write(png: output)
    }
  }
}
