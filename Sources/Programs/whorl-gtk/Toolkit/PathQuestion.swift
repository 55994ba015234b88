internal import CAdwaita
internal import Primitives

/// A question for a file or a folder, whose path can be typed or chosen in the desktop's dialog.
final class PathQuestion {
  private let interface = Interface(PackageResources.path_ui)
  private let kind: FileDialog.Kind
  private let answered: (String) -> Void

  /// - Parameters:
  ///   - title: of the window.
  ///   - description: what happens with it.
  ///   - path: what is proposed.
  ///   - answer: the button that goes on, such as "_Back Up".
  ///   - answered: gets the path. Not called after Cancel.
  static func ask(
    for kind: FileDialog.Kind, _ title: String, _ description: String, proposing path: String = "", answer: String,
    over window: Widget, answered: @escaping (String) -> Void
  ) {
    PathQuestion(kind, answered).present(title, description, path, answer, window)
  }

  private init(_ kind: FileDialog.Kind, _ answered: @escaping (String) -> Void) {
    (self.kind, self.answered) = (kind, answered)
  }

  private func present(_ title: String, _ description: String, _ path: String, _ answer: String, _ parent: Widget) {
    let (entry, button) = (interface["path"], interface["answer"])
    interface["window"].set("title", title)
    interface["group"].set("description", description)
    entry.set("title", kind == .folder ? Text.of("Folder") : Text.of("File"))
    button.set("label", answer)
    entry.on("changed") { button.isSensitive = !entry.isEmpty }
    entry.text = path
    entry.on("entry-activated") { [self] in finish() }
    button.on("clicked") { [self] in finish() }
    interface["choose"].on("clicked") { [self] in choose() }
    interface.present(over: parent)
    entry.focus()
  }

  private func finish() {
    guard interface["answer"].isSensitive else { return }
    let path = interface["path"].text
    interface.close()
    answered(path)
  }

  private func choose() {
    FileDialog.choose(kind, over: interface["window"]) { [self] in interface["path"].text = $0 }
  }
}
