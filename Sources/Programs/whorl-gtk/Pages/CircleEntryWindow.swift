internal import CAdwaita
internal import Glibc
internal import Primitives
internal import Settings

/// Asks for the repository through which the computers share, and begins there or asks to join.
final class CircleEntryWindow {
  private let interface = Interface(PackageResources.entry_ui)
  private let shown: ShownStore
  private let isJoining: Bool
  private var entering: Task<Void, Never>?
  private let done: () -> Void
  /// What was begun last, in any such window. After Cancel it ends by itself, and the next one waits for that, since both
  /// use the same folder.
  private static var last: Task<Void, Never>?

  /// - Parameter done: this computer has begun, or has asked.
  init(joining: Bool, of shown: ShownStore, done: @escaping () -> Void) {
    (isJoining, self.shown, self.done) = (joining, shown, done)
  }

  func present() {
    let answer = interface["answer"]
    interface["window"].set("title", isJoining ? Text.of("Join Your Computers") : Text.of("Begin to Share"))
    interface["group"].set(
      "description",
      isJoining
        ? Text.of("The repository in which your other computers share. One of them has to let this one in.")
        : Text.of(
          "An empty git repository of yours, on a server or a stick. Whoever can read it sees how many secrets there are, and neither names nor secrets."
        ))
    interface["machine"].text = Self.hostName
    let fields = [interface["remote"], interface["machine"]]
    for field in fields {
      field.on("changed") { answer.isSensitive = fields.allSatisfy { !$0.isEmpty } }
      field.on("entry-activated") { [self] in enter() }
    }
    answer.on("clicked") { [self] in enter() }
    interface.present(over: shown.window) { [self] in
      entering?.cancel()
      interface.close()
    }
  }

  private func enter() {
    let answer = interface["answer"]
    guard answer.isSensitive else { return }
    answer.isSensitive = false
    interface["problem"].isVisible = false
    let (remote, machine, last) = (interface["remote"].text, interface["machine"].text, Self.last)
    let entering = MainLoop.begin {
      await last?.value
      guard !Task.isCancelled else { return }
      do throws(Failure) {
        try await Exchange.enter(remote, as: machine, joining: isJoining, shown)
        interface.close()
        done()
      } catch {
        guard !interface.isClosed else { return shown.say(error) }
        answer.isSensitive = true
        guard error.cause?.isCancel != true else { return }
        interface["problem"].set("label", error.shown)
        interface["problem"].isVisible = true
      }
    }
    (self.entering, Self.last) = (entering, entering)
  }

  /// The first part of this computer's name.
  private static var hostName: String {
    var host = [CChar](repeating: 0, count: 256)
    // Writes a terminated name, shorter than the buffer.
    guard gethostname(&host, host.count - 1) == 0 else { return "" }
    let whole = host.withUnsafeBufferPointer { $0.baseAddress.flatMap { String(validatingCString: $0) } } ?? ""
    return String(whole.prefix { $0 != "." })
  }
}
