import DiskWrites
import VaultDriver

/// A system call that changes the disk (``DiskWrites``).
struct DiskWrite: CustomStringConvertible {
  enum Call {
    case write([UInt8], at: Int)
    case truncate(to: Int)
    case rename(to: String)
    case unlink
    case sync
  }

  let call: Call
  let path: String
  private let name: String

  /// Copies the call's data. Nil for an unknown call.
  init?(_ write: whorl_disk_write) {
    name = String(cString: write.call)
    path = String(cString: write.path)
    switch name {
    case "write", "pwrite":
      call = .write(Array(UnsafeRawBufferPointer(start: write.bytes, count: write.count)), at: Int(write.offset))
    case "ftruncate": call = .truncate(to: write.count)
    case "rename": call = .rename(to: String(cString: write.new_path))
    case "unlink": call = .unlink
    case "fsync", "fdatasync": call = .sync
    default: return nil
    }
  }

  var description: String { "\(name) of \(path.split(separator: "/").last ?? "")" }
}

/// Files and their names after a loss of power: everything that was synced, and any part of the rest.
///
/// A file's name is durable once its folder was synced, and its contents once the file was synced. Changes of names
/// reach the disk in order, as in a file system's journal. Writes to a file reach the disk in any order, each
/// completely, partly or not at all.
struct SimulatedDisk {
  private enum Change {
    case write([UInt8], at: Int)
    case truncate(to: Int)

    func make(in bytes: inout [UInt8], _ isKept: (_ piece: Int) -> Bool) {
      switch self {
      case .truncate(let count):
        if isKept(0) { bytes = bytes.prefix(count) + Array(repeating: 0, count: max(0, count - bytes.count)) }
      case .write(let new, let start):
        for begin in stride(from: 0, to: new.count, by: SimulatedDisk.piece)
        where isKept(begin / SimulatedDisk.piece) {
          let end = min(begin + SimulatedDisk.piece, new.count)
          if bytes.count < start + end { bytes += Array(repeating: 0, count: start + end - bytes.count) }
          bytes.replaceSubrange(start + begin..<start + end, with: new[begin..<end])
        }
      }
    }
  }

  private struct File {
    var synced: [UInt8]
    var changes: [Change] = []
  }

  /// The bytes that are written atomically. Real disks have at least 512.
  private static let piece = 64

  private var files: [File] = []
  /// The file of each durable name.
  private var syncedNames: [String: Int] = [:]
  /// The file of each name as programs see it.
  private var names: [String: Int] = [:]
  /// Changes of names that are not durable yet, in order; nil for a removed name.
  private var renamings: [(path: String, file: Int?)] = []

  /// - Parameter contents: the contents of the files on the disk, by path.
  init(_ contents: [String: [UInt8]]) {
    for (path, bytes) in contents { names[path] = add(File(synced: bytes)) }
    syncedNames = names
  }

  private mutating func add(_ file: File) -> Int {
    files.append(file)
    return files.count - 1
  }

  /// Makes a call.
  mutating func make(_ write: DiskWrite) {
    switch write.call {
    case .write(let bytes, let start): change(write.path, .write(bytes, at: start))
    case .truncate(let count): change(write.path, .truncate(to: count))
    case .unlink: rename(write.path, nil)
    case .rename(let new):
      guard let file = names[write.path] else { return }
      rename(write.path, nil)
      rename(new, file)
    case .sync:
      if let file = names[write.path] {
        for change in files[file].changes { change.make(in: &files[file].synced) { _ in true } }
        files[file].changes = []
      } else {
        // A folder.
        let folder = write.path + "/"
        for (path, file) in renamings where path.hasPrefix(folder) { syncedNames[path] = file }
        renamings.removeAll { $0.path.hasPrefix(folder) }
      }
    }
  }

  private mutating func change(_ path: String, _ change: Change) {
    let file = names[path] ?? add(File(synced: []))
    if names[path] == nil { rename(path, file) }
    files[file].changes.append(change)
  }

  private mutating func rename(_ path: String, _ file: Int?) {
    names[path] = file
    renamings.append((path, file))
  }

  /// Every name that has been seen.
  var paths: Set<String> { Set(syncedNames.keys).union(names.keys).union(renamings.map(\.path)) }

  /// The contents of each file if nothing reached the disk that was not synced.
  var synced: [String: [UInt8]] { syncedNames.mapValues { files[$0].synced } }

  /// The contents of each file if some of what was not synced reached the disk.
  func some(using random: inout Campaign.Generator) -> [String: [UInt8]] {
    var left = syncedNames
    for (path, file) in renamings.prefix(Int.random(in: 0...renamings.count, using: &random)) { left[path] = file }
    return left.mapValues { file in
      var bytes = files[file].synced
      for change in files[file].changes {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1: change.make(in: &bytes) { _ in Bool.random(using: &random) }
        default: change.make(in: &bytes) { _ in true }
        }
      }
      return bytes
    }
  }
}
