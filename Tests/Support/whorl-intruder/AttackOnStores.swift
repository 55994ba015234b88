internal import Glibc
internal import Processes

/// What code that runs in the vault process of one user tries: to use the stores of others, and to reach their processes.
///
/// A test puts this program in the place of the reader program, which a vault process starts with its own rights. It
/// writes the results into each store that it may write to.
enum AttackOnStores {
  /// - Parameter folder: that of the service: its stores are in `stores`.
  static func make(in folder: String) {
    let attempts = [UInt32(1), 2, 3].flatMap { user in
      let store = "\(folder)/stores/\(user)-\(Account.name(of: user) ?? "")"
      let files: [(Attempt, String)] = [
        (.list, store), (.read, store + "/vault.db"), (.write, store + "/vault.db"), (.create, store + "/new"),
        (.remove, store + "/new"), (.makeFolder, store + "/folder"),
      ]
      let processes = processes(of: user, folder).flatMap { [(Attempt.signal, $0), (.openMemory, $0)] }
      return (files + processes).map { (user, $0.0, $0.1) }
    }
    var results = ""
    for (user, attempt, argument) in attempts {
      errno = 0
      results +=
        "\(attempt) \(user): " + (attempt.make(argument) < 0 ? String(cString: strerror(errno)) : "done") + "\n"
    }
    for user in UInt32(1)...3 {
      let store = "\(folder)/stores/\(user)-\(Account.name(of: user) ?? "")"
      errno = 0
      _ = Attempt.create.make(store + "/folder/file")
      let isMoved = rename(store + "/folder/file", store + "/file") == 0
      results += "move \(user): " + (isMoved ? "done" : String(cString: strerror(errno))) + "\n"
    }
    for user in UInt32(1)...3 {
      let path = "\(folder)/stores/\(user)-\(Account.name(of: user) ?? "")/results"
      let file = open(path + ".new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else { continue }
      _ = results.utf8.withContiguousStorageIfAvailable { write(file, $0.baseAddress, $0.count) }
      close(file)
      rename(path + ".new", path)
    }
  }

  /// The vault processes of a user, by their arguments.
  private static func processes(of user: UInt32, _ folder: String) -> [String] {
    guard let stream = opendir("/proc") else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard Int32(name) != nil, let file = fopen("/proc/\(name)/cmdline", "r") else { continue }
      var bytes = [UInt8](repeating: 0, count: 1_024)
      let count = fread(&bytes, 1, bytes.count, file)
      fclose(file)
      if String(decoding: bytes.prefix(count), as: UTF8.self).contains("--of\0\(user)\0\(folder)/stores\0") {
        found.append(name)
      }
    }
    return found
  }
}
