import Glibc
package import Presence
package import Primitives
package import ReaderClient
package import Vault
import VirtualFinger

/// The built `whorl-reader`, beside the test runner.
package enum ReaderBuild {
  package static let program: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    let runner = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = runner.split(separator: "/").dropLast().joined(separator: "/")
    // `swift test` runs a helper of the toolchain; the products are where the test bundle is.
    for argument in CommandLine.arguments + [runner] where argument.contains(".xctest") {
      let products = argument.split(separator: "/").dropLast().joined(separator: "/")
      if access("/\(products)/whorl-reader", X_OK) == 0 { return "/\(products)/whorl-reader" }
    }
    return "/\(folder)/whorl-reader"
  }()
}

/// A store with libfprint's virtual image reader in its own process, and fingers to press on it.
package struct ImageReaderStore {
  package let store: ScratchStore
  package let socket: String

  package init(passcode: String? = ScratchStore.passcode) async throws {
    store = try await ScratchStore(passcode: passcode)
    socket = store.folder + "/image.socket"
  }

  package var process: ReaderProcess {
    ReaderProcess(program: ReaderBuild.program, selection: .virtualImage(socket: socket))
  }

  package func press(_ finger: Finger, person: Int = 1, _ impression: UInt64 = .random(in: 1...1_000_000))
    -> @Sendable () async throws -> Void
  {
    { [socket] in
      try VirtualImageReader(socket: socket).press(
        SyntheticFinger(person: person, finger: finger).impression(impression))
    }
  }

  package func retry() -> @Sendable () async throws -> Void {
    { [socket] in try VirtualImageReader(socket: socket).retry(.general) }
  }

  /// Enrols a finger: five stages and the confirming touch.
  package func enroll(_ finger: Finger, in vault: Vault, passcode: String = ScratchStore.passcode) async throws
    -> SetChange
  {
    let person = Person(
      passcodes: [passcode], touches: (1...6).map { press(finger, UInt64($0)) })
    return try await person.with(vault) { try await vault.enroll(finger, in: $0) }
  }
}
