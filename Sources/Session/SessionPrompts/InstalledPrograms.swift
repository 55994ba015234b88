internal import Glibc
internal import Primitives
package import Processes

/// The programs that root has installed, with their names in the desktop's menus. Files that a user can write, such as
/// those of `~/.local/share/applications`, are ignored, since every program of the user can write them.
package struct InstalledPrograms: Sendable {
  /// The folders of desktop files.
  private let folders: [String]
  /// The folder of the desktop files that Flatpak makes for the programs that root has installed with it.
  private let flatpaks: String
  private let trust: PathWalk.Trust

  /// Those of the system. The folders are fixed: `XDG_DATA_DIRS` belongs to the user.
  package static let system = InstalledPrograms(
    folders: ["/usr/local/share/applications", "/usr/share/applications"],
    flatpaks: "/var/lib/flatpak/exports/share/applications", trusting: .rootAlone)

  package init(folders: [String], flatpaks: String, trusting trust: PathWalk.Trust) {
    (self.folders, self.flatpaks, self.trust) = (folders, flatpaks, trust)
  }

  /// The longest desktop file that is read.
  private static let limit = 256 << 10
  /// Where a desktop file's command without a path is looked for. Fixed, since `PATH` belongs to the user, too.
  private static let commands = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/local/games", "/usr/games"]

  /// Whether only root can change what is at a path.
  func has(_ path: String) -> Bool {
    do throws(PathWalkError) {
      try PathWalk.check(path, trusting: trust)
      return true
    } catch {
      return false
    }
  }

  /// The desktop file of the installed program at a path. Nil if there is none, or if several give different names.
  func desktopFile(ofProgramAt path: String) -> DesktopFile? {
    // The kernel cannot distinguish scripts, so an interpreter has no desktop file.
    guard Interpreter(path) == nil, let program = FileIdentity(at: path) else { return nil }
    var found: [DesktopFile] = []
    var seen: Set<String> = []
    for folder in folders {
      for name in Self.names(in: folder) where seen.insert(name).inserted {
        guard let file = file(at: "\(folder)/\(name)"), file.startsProgramAlone,
          Self.command(of: file).flatMap({ FileIdentity(at: $0) }) == program
        else { continue }
        found.append(file)
      }
    }
    // Prefer one that starts the program without options.
    let plain = found.filter { !$0.command.contains { $0.hasPrefix("-") } }
    let candidates = plain.isEmpty ? found : plain
    return Set(candidates.map(\.name)).count == 1 ? candidates.first : nil
  }

  /// The desktop file of a program that root has installed with Flatpak.
  func desktopFile(ofFlatpak id: String) -> DesktopFile? {
    // An id is a name of D-Bus, so it cannot lead to another folder.
    let isID = id.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    guard isID, !id.hasPrefix(".") else { return nil }
    return file(at: "\(flatpaks)/\(id).desktop")
  }

  /// Nil if anyone but root can change the file.
  private func file(at path: String) -> DesktopFile? {
    guard has(path), let bytes = try? SmallFile.read(path, limit: Self.limit) else { return nil }
    return DesktopFile(String(decoding: bytes, as: UTF8.self))
  }

  private static func names(in folder: String) -> [String] {
    (Folder.names(in: folder) ?? []).filter { $0.hasSuffix(".desktop") }
  }

  private static func command(of file: DesktopFile) -> String? {
    guard let command = file.command.first else { return nil }
    if command.contains("/") { return command.hasPrefix("/") ? command : nil }
    return commands.map { "\($0)/\(command)" }.first { access($0, X_OK) == 0 }
  }
}
