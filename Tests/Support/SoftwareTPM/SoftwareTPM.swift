import CLinux
import Glibc
import Synchronization
package import TPM

/// A TPM in software (swtpm) with a folder of its own, which ends with this object.
package final class SoftwareTPM: Sendable {
  /// Where a `TPM` reaches it.
  package let place: TPM.Place
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
    // Else the library writes each refused command to the tests' output.
    setenv("TSS2_LOG", "all+NONE", 1)
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
      // It listens on the control socket last.
      for _ in 0..<2_000 {
        if access(socket, F_OK) == 0, access(socket + ".ctrl", F_OK) == 0 { return }
        usleep(5_000)
      }
      throw SoftwareTPMFailure("swtpm did not start")
    }
  }

  /// Clears the TPM, as its owner can in the firmware's settings.
  package func clear() throws { try tool("tpm2_clear", ["-c", "l"]) }

  /// Sets the limit of the dictionary lockout, and how many seconds it takes until a failure is forgotten.
  package func setLockout(limit: Int, seconds: Int = 1_000) throws {
    try tool(
      "tpm2_dictionarylockout", ["-s", "-n", "\(limit)", "-t", "\(seconds)", "-l", "\(seconds)"])
  }

  /// Forgets all failures, as an administrator with the lockout password can.
  package func forgetFailures() throws { try tool("tpm2_dictionarylockout", ["-c"]) }

  /// Sets the password of the owner hierarchy.
  package func setOwnerPassword(_ password: String) throws { try tool("tpm2_changeauth", ["-c", "o", password]) }

  /// Deletes an NV index, as the TPM's owner can.
  package func delete(_ counter: TPMCounter) throws {
    try tool("tpm2_nvundefine", ["-C", "o", "0x" + String(counter.index, radix: 16)])
  }

  /// Changes a register of the platform's state, as another firmware or boot loader does.
  package func extend(register: Int) throws {
    try tool("tpm2_pcrextend", ["\(register):sha256=" + String(repeating: "42", count: 32)])
  }

  private func tool(_ name: String, _ arguments: [String]) throws {
    let status = try Self.run(name, ["-T", "swtpm:path=\(place.path)"] + arguments)
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
