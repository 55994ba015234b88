internal import FoundationEssentials
internal import Glibc
internal import Primitives
public import SecretModel

extension AccessGroup {
  /// The group of the program that runs: the bundle identifier in an `Info.plist` beside its executable, else the
  /// executable's name.
  ///
  /// The executable is the one that the kernel names (`/proc/self/exe`), whatever the environment and `argv` say. An
  /// `Info.plist` that names another `CFBundleExecutable` belongs to another program in the folder and is ignored.
  public static let own: String = own(ofExecutable: executable)

  /// The group of a program by the path of its executable.
  package static func own(ofExecutable path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let name = parts.last.map(String.init) ?? path
    let property = "\(parts.dropLast().joined(separator: "/"))/Info.plist"
    guard let bytes = try? SmallFile.read(property, limit: 64 << 10),
      let list = try? PropertyListDecoder().decode(InformationPropertyList.self, from: Data(bytes)),
      list.executable == nil || list.executable == name, let identifier = list.identifier, !identifier.isEmpty
    else { return name }
    return identifier
  }

  /// The path of this process's executable.
  private static var executable: String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    // Writes at most the buffer's size, without a terminator.
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    // The kernel adds this to the path of a program that was replaced or removed while it runs.
    let mark = " (deleted)"
    return unsafe path.hasSuffix(mark) && access(path, F_OK) != 0 ? String(path.dropLast(mark.count)) : path
  }
}

/// The keys of an `Info.plist` that identify its program.
private struct InformationPropertyList: Decodable {
  var identifier: String?
  var executable: String?

  private enum CodingKeys: String, CodingKey {
    case identifier = "CFBundleIdentifier"
    case executable = "CFBundleExecutable"
  }
}

extension ItemSearch {
  /// The search for reading: if it names no group, it finds the program's own items first and then the command line's.
  var forReading: ItemSearch { inGroups([AccessGroup.own, AccessGroup.commandLine]) }

  /// The search for changing or deleting: if it names no group, it finds the program's own items alone.
  package var forChanging: ItemSearch { inGroups([AccessGroup.own]) }

  /// Limits the search to groups, unless it names a group or ids. An empty group counts as none.
  private func inGroups(_ names: [String]) -> ItemSearch {
    var search = self
    if search.attributes[.accessGroup] == .text("") { search.attributes[.accessGroup] = nil }
    guard search.groups == nil, search.attributes[.accessGroup] == nil, search.ids == nil else { return search }
    search.groups = .named(names)
    return search
  }
}

extension NewItem {
  /// The item, in the program's own group if it names none.
  var inOwnGroup: NewItem {
    guard attributes[.accessGroup] == nil || attributes[.accessGroup] == .text("") else { return self }
    var item = self
    item.attributes[.accessGroup] = .text(AccessGroup.own)
    return item
  }
}

extension ItemChange {
  /// The change, with the program's own group if it removes the group.
  var keepingGroup: ItemChange {
    guard let group = attributes[.accessGroup], group == nil || group == .text("") else { return self }
    var change = self
    change.attributes[.accessGroup] = .text(AccessGroup.own)
    return change
  }
}
