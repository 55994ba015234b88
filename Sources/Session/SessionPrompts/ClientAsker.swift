internal import Primitives
package import Prompts

extension ClientProgram {
  /// The program as prompts name it: as the desktop's menus do where root has installed it with a desktop file, and
  /// otherwise by the name of its file.
  package func asker(among installed: InstalledPrograms = .system) -> PromptAsker {
    if application == nil, let claimed = earlierPath?.split(separator: "/").last.map(String.init) {
      return named(PromptAsker.updated(claimed))
    }
    guard let path, let own = path.split(separator: "/").last.map(String.init) else {
      return named(PromptAsker.unidentified)
    }
    let isInstalled = installed.has(path)
    if let application {
      // Only a portal that root has installed is trusted.
      guard isInstalled else { return named(PromptAsker.unidentified) }
      return named(application, installed.desktopFile(ofFlatpak: application))
    }
    // A user can give a program of their own any name, such as that of an installed one.
    guard isInstalled else {
      return named(
        Text.of("{name} (not installed by the system)", ["name": PromptLabel.word(own)]))
    }
    return named(own, installed.desktopFile(ofProgramAt: path))
  }

  /// The program as prompts name it where it asks for another one. GnuPG's agent keeps its memory from other programs of
  /// the user, and with it the name of its file: then the details have the other program, as a claim.
  package func asker(for other: ClientProgram, among installed: InstalledPrograms = .system) -> PromptAsker {
    var asker = asker(among: installed)
    guard path == nil, earlierPath == nil else { return asker }
    if let login = other.remoteLogin { asker.name += " (\(login.words))" }
    asker.details = Text.of("{name}, says {program}", ["name": other.words, "program": words])
    return asker
  }

  /// - Parameter name: used without a desktop file, or if its name cannot be shown.
  private func named(_ name: String, _ file: DesktopFile?) -> PromptAsker {
    let title = file.map { PromptLabel.text($0.name) } ?? ""
    return named(title.isEmpty ? PromptLabel.word(name) : title, icon: file?.icon)
  }

  private func named(_ name: String, icon: String? = nil) -> PromptAsker {
    let place = remoteLogin.map { " (\($0.words))" } ?? ""
    return PromptAsker(name: name + place, details: words, icon: icon)
  }
}
