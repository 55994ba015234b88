import CLinux
import Glibc
import Synchronization
package import VaultStore

/// A TPM in software (swtpm) with a folder of its own, which ends with this object.
package final class SoftwareTPM: Sendable {
  /// Where a `TPM` reaches it.
  package let place: TPMPlace
  /// Everything that went over the wire, in swtpm's words.
  package var log: String { folder + "/log" }

  private let folder: String
  private let process = Mutex<pid_t?>(nil)

  /// Starts a TPM that has never been used.
  package init() throws {
    var template = Array("/tmp/whorl-tpm-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SoftwareTPMFailure("no folder") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    place = .simulator(socket: folder + "/socket")
    try powerOn()
  }

  deinit {
    powerOff()
    _ = try? Self.run("rm", ["-rf", folder])
  }

  package var tpm: TPM { TPM(place) }

  /// Ends the TPM as a loss of power does; its state stays.
  package func powerOff() {
    process.withLock { process in
      guard let running = process else { return }
      kill(running, SIGKILL)
      waitpid(running, nil, 0)
      process = nil
    }
  }

  /// Ends the TPM after a shutdown, as the kernel does before the machine is switched off.
  package func shutDown() throws {
    try tool("tpm2_shutdown", ["-c"])
    powerOff()
  }

  /// Starts the TPM as a machine's firmware does.
  package func powerOn() throws {
    try process.withLock { process in
      guard process == nil else { return }
      let socket = place.path
      unlink(socket)
      unlink(socket + ".ctrl")
      process = try Self.spawn(
        "swtpm",
        [
          "socket", "--tpm2", "--tpmstate", "dir=\(folder)", "--server", "type=unixio,path=\(socket)", "--ctrl",
          "type=unixio,path=\(socket).ctrl", "--flags", "not-need-init,startup-clear", "--log",
          "file=\(log),level=20",
        ])
      for _ in 0..<2_000 {
        if Self.listens(at: socket + ".ctrl"), Self.listens(at: socket) { return }
        usleep(5_000)
      }
      throw SoftwareTPMFailure("swtpm did not start")
    }
  }

  /// Whether a connection is accepted. The socket's file exists a moment earlier.
  private static func listens(at path: String) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    // Borrows the address for the call.
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0
  }

  /// Clears the TPM, as its owner can in the firmware's settings.
  package func clear() throws { try tool("tpm2_clear", ["-c", "l"]) }

  /// Sets the limit of the dictionary lockout, and how many seconds it takes until a failure is forgotten.
  package func setLockout(limit: Int, seconds: Int = 1_000) throws {
    try tool(
      "tpm2_dictionarylockout", ["-s", "-n", "\(limit)", "-t", "\(seconds)", "-l", "\(seconds)"])
  }

  /// Frees what ended programs have left in it, as the kernel's resource manager does.
  package func freeAll() throws {
    for kind in ["-t", "-l", "-s"] { try tool("tpm2_flushcontext", [kind]) }
  }

  /// Forgets all failures, as an administrator with the lockout password can.
  package func forgetFailures() throws { try tool("tpm2_dictionarylockout", ["-c"]) }

  /// Sets the password of the owner hierarchy.
  package func setOwnerPassword(_ password: String) throws { try tool("tpm2_changeauth", ["-c", "o", password]) }

  /// Deletes an NV index, as the TPM's owner can.
  package func delete(_ counter: TPMCounter) throws {
    try tool("tpm2_nvundefine", ["-C", "o", "0x" + String(counter.index, radix: 16)])
  }

  /// Takes up all room for counters with indices of other programs. Returns the last of them, each a counter.
  package func fillMemory() throws -> [TPMCounter] {
    // The TPM keeps room for some counters that other indices cannot take.
    var next: UInt32 = 0x0150_0000
    for size in [2_048, 256, 8] {
      while try defines(next, ["-s", "\(size)", "-a", "ownerread|ownerwrite"]) { next += 1 }
    }
    var counters: [TPMCounter] = []
    while try defines(next, ["-s", "8", "-a", "ownerread|ownerwrite|nt=counter"]) {
      counters.append(TPMCounter(index: next))
      next += 1
    }
    return counters
  }

  /// Whether there was room for an index of another program.
  private func defines(_ index: UInt32, _ arguments: [String]) throws -> Bool {
    guard index < 0x0150_1000 else { throw SoftwareTPMFailure("its memory has no end") }
    return try status(of: "tpm2_nvdefine", ["-C", "o", "0x" + String(index, radix: 16)] + arguments) == 0
  }

  /// Copies the state that outlives a loss of power into a new folder.
  package func copyState(to copy: String) throws {
    guard try Self.run("cp", ["-a", folder, copy]) == 0 else { throw SoftwareTPMFailure("cannot copy its state") }
  }

  /// Ends the TPM as a loss of power does, and starts it with the state of a copy.
  package func loseAllSince(_ copy: String) throws {
    powerOff()
    guard try Self.run("sh", ["-c", "rm -f \"$2\"/* && cp -a \"$1\"/*.permall \"$2\"", "sh", copy, folder]) == 0 else {
      throw SoftwareTPMFailure("cannot put its state back")
    }
    try powerOn()
  }

  /// Changes a register of the platform's state, as another firmware or boot loader does.
  package func extend(register: Int) throws {
    try tool("tpm2_pcrextend", ["\(register):sha256=" + String(repeating: "42", count: 32)])
  }

  private func status(of name: String, _ arguments: [String]) throws -> Int32 {
    try Self.run(name, ["-T", "swtpm:path=\(place.path)"] + arguments)
  }

  private func tool(_ name: String, _ arguments: [String]) throws {
    let status = try status(of: name, arguments)
    guard status == 0 else { throw SoftwareTPMFailure("\(name) ended with \(status)") }
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
    let process = try spawn(program, arguments)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return status
  }

  private static func spawn(_ program: String, _ arguments: [String]) throws -> pid_t {
    let words = ([program] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    // The library's sockets are not closed by exec: a TPM that serves one client at a time would wait for a client whose
    // socket another TPM still holds.
    posix_spawn_file_actions_addclosefrom_np(&actions, 3)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var process: pid_t = 0
    let failure = posix_spawnp(&process, program, &actions, nil, words + [nil], environ)
    guard failure == 0 else { throw SoftwareTPMFailure("\(program): \(String(cString: strerror(failure)))") }
    return process
  }
}

/// swtpm or a program of tpm2-tools did not do what a test needs.
package struct SoftwareTPMFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}
