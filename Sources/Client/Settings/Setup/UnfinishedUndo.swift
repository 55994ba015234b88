internal import CLinux
internal import Glibc
internal import Primitives
package import SecretModel
internal import Whorl

/// The steps that `whorl setup --undo` has begun to take back and not finished, in a file of the user's.
///
/// What is still enabled does not tell this: where passwords could not be copied back, the service that had them is off
/// already. While a step is noted here the store is not removed, and the next run goes on with it.
package struct UnfinishedUndo: Sendable {
  private static let limit = 64 << 10

  private let path: String
  /// The folder of the store, or the word for the one in the system service.
  private let store: String
  package private(set) var steps: [SetupStep]
  /// The lines of other stores.
  private let others: [String]

  /// - Throws: if the file is there and cannot be understood. Then nothing may be removed.
  package init(for place: StorePlace) throws(Failure) {
    guard let state = BaseDirectories.state else { throw .noHome }
    let store =
      switch place {
      case .own: "service"
      case .folder(let folder): folder.directory
      }
    (path, self.store) = ("\(state)/whorl/unfinished-undo", store)
    var status = stat()
    guard lstat(path, &status) == 0 else {
      (steps, others) = ([], [])
      return
    }
    let bytes: [UInt8]
    do throws(SmallFile.Failure) {
      bytes = try SmallFile.read(path, limit: Self.limit)
    } catch {
      throw Self.unusable(path, error.problem)
    }
    var (steps, others): ([SetupStep], [String]) = ([], [])
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "\t", maxSplits: 1)
      guard parts.count == 2, let step = SetupStep(rawValue: String(parts[0])) else {
        throw Self.unusable(path, "it has a line that Whorl has not written")
      }
      if parts[1] == store { steps.append(step) } else { others.append(String(line)) }
    }
    (self.steps, self.others) = (steps, others)
  }

  /// Notes that these steps begin to be taken back. They are on the disk when this returns.
  package mutating func begin(_ new: [SetupStep]) throws(Failure) {
    steps += new.filter { !steps.contains($0) }
    try write()
  }

  /// Notes that a step is taken back completely.
  package mutating func finish(_ step: SetupStep) throws(Failure) {
    guard steps.contains(step) else { return }
    steps.removeAll { $0 == step }
    try write()
  }

  private func write() throws(Failure) {
    let lines = others + steps.map { "\($0.rawValue)\t\(store)" }
    guard !lines.isEmpty else {
      guard unlink(path) == 0 || errno == ENOENT else {
        throw Self.unwritten("\(path): \(String(cString: strerror(errno)))")
      }
      return
    }
    do throws(PersonalFile.Unwritten) {
      try PersonalFile(path).write(lines)
    } catch {
      throw Self.unwritten(error.problem)
    }
  }

  private static func unusable(_ path: String, _ problem: String) -> Failure {
    Failure(
      .inputOutput, "cannot read what was left to do: \(path): \(problem)", name: "errSecIO",
      advice: "nothing was taken back; run 'whorl secret-service disable', and when it ends without an error, remove "
        + "that file and run this again")
  }

  private static func unwritten(_ problem: String) -> Failure {
    Failure(
      .inputOutput, "cannot note what is left to do: \(problem)", name: "errSecIO",
      advice: "make room there, and run 'whorl setup --undo' again")
  }
}
