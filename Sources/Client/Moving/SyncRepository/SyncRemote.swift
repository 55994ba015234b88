/// The address of a circle's repository, as `git` takes it: over ssh or https, or a folder of this machine.
package struct SyncRemote: Sendable, Hashable {
  package let url: String
  /// The folder, if the remote is one.
  let folder: RemoteFolder?

  /// - Parameters:
  ///   - text: a URL, `host:path` for ssh, or a path.
  ///   - folder: the folder that a path is relative to.
  package init(_ text: String, in folder: String) throws(SyncRunError) {
    func refused(_ why: String) -> SyncRunError { .unusableRemote(why: why) }
    guard !text.isEmpty else { throw refused("it is empty") }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw refused("it has a control character") }
    // git would take it for an option.
    guard !text.hasPrefix("-") else { throw refused("it begins with a hyphen") }
    // A remote helper, such as `ext::`, which runs a command.
    guard text.firstRange(of: "::") == nil || text.hasPrefix("/") else {
      throw refused("it would make git run a program")
    }
    if let scheme = text.firstRange(of: "://") {
      let known = ["ssh", "https", "file"]
      guard known.contains(String(text[..<scheme.lowerBound])) else {
        throw refused("it is not an ssh or https address, and not a folder")
      }
      let authority = text[scheme.upperBound...].prefix { $0 != "/" }
      guard !text.contains(" ") else { throw refused("it has a space, which is written as %20 in such an address") }
      guard !authority.hasPrefix("-"), authority.firstRange(of: "@-") == nil else {
        throw refused("its host begins with a hyphen")
      }
      if let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().first {
        guard !user.contains(":") else {
          throw refused("it has a password, which every program of this machine could see; let git ask for it")
        }
      }
      url = text
      self.folder = try text.hasPrefix("file:") ? RemoteFolder(url: text) : nil
    } else if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
      // ssh, in the form host:path
      let host = text[..<colon].split(separator: "@", omittingEmptySubsequences: false).last ?? ""
      guard !host.isEmpty, !text.hasPrefix("-"), !host.hasPrefix("-"), !host.contains(" "),
        text.index(after: colon) < text.endIndex
      else {
        throw refused("it names no host and path")
      }
      url = text
      self.folder = nil
    } else {
      url = text.hasPrefix("/") ? text : "\(folder)/\(text)"
      self.folder = RemoteFolder(path: url)
    }
  }
}
