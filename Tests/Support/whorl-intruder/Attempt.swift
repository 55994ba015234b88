internal import CLinux
internal import Glibc

/// An action that a confined reader process must not be able to do. The argument is a path or a process for some.
enum Attempt: String {
  // On a path
  case read, write, list, create, makeFolder, makeLink, remove, rename, changeMode, truncate, changeTimes
  case setAttribute, connect, sendDatagram, sendDatagramFromPair, execute
  // On a process
  case trace, readMemory, openMemory, openEnvironment, signal, openProcess
  // On the machine
  case internetSocket, routingSocket, child, cloneWithArguments, ring, pageFaults, program, counters, keyring
  case namespace, mount, sharedMemory, type, outlive

  /// Negative where it failed, with the reason in `errno`.
  func make(_ argument: String) -> Int {
    switch self {
    case .read: return Int(opened(argument, O_RDONLY))
    case .write: return Int(opened(argument, O_WRONLY | O_APPEND))
    case .list:
      guard let folder = opendir(argument) else { return -1 }
      return Int(closedir(folder))
    case .create: return Int(opened(argument, O_WRONLY | O_CREAT | O_EXCL))
    case .makeFolder: return Int(mkdir(argument, 0o700))
    case .makeLink: return Int(symlink("/", argument))
    case .remove: return Int(unlink(argument))
    case .rename: return Int(Glibc.rename(argument, argument + ".moved"))
    case .changeMode: return Int(chmod(argument, 0o777))
    case .truncate: return Int(Glibc.truncate(argument, 0))
    case .changeTimes: return Int(utimes(argument, nil))
    case .setAttribute: return Int(setxattr(argument, "user.whorl", "1", 1, 0))
    case .connect: return withSocket(kind: SOCK_STREAM) { send(to: argument, from: $0, connecting: true) }
    case .sendDatagram: return withSocket(kind: SOCK_DGRAM) { send(to: argument, from: $0, connecting: false) }
    case .sendDatagramFromPair:
      var pair: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &pair) == 0 else { return -1 }
      return send(to: argument, from: pair[0], connecting: false)
    case .execute:
      // Flush the output before this program is replaced.
      fflush(nil)
      let arguments = [strdup(argument), strdup("executed"), nil]
      return Int(execve(argument, arguments, [nil]))
    case .trace: return call(__NR_ptrace, Number.ptraceSeize, process(argument))
    case .readMemory: return call(__NR_process_vm_readv, process(argument))
    case .openMemory: return Int(opened("/proc/\(argument)/mem", O_RDWR))
    case .openEnvironment: return Int(opened("/proc/\(argument)/environ", O_RDONLY))
    case .signal: return Int(kill(pid_t(argument) ?? 0, 0))
    case .openProcess: return call(Int32(Number.pidfdOpen), process(argument))
    case .internetSocket: return Int(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    case .routingSocket: return Int(socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 0))
    case .child:
      let child = call(__NR_clone, Int(SIGCHLD))
      if child == 0 { _exit(0) }
      return child
    case .cloneWithArguments: return call(Int32(Number.clone3))
    case .ring: return call(Int32(Number.ioUringSetup), 1)
    case .pageFaults: return call(__NR_userfaultfd, 1)
    case .program: return call(__NR_bpf, 0)
    case .counters: return call(__NR_perf_event_open)
    case .keyring: return call(__NR_keyctl, 0, -3, 1)
    case .namespace: return call(__NR_unshare, Number.cloneNewuser)
    case .mount: return call(__NR_mount)
    case .sharedMemory: return call(__NR_shmget, 0, 4_096, 0o600)
    case .type: return call(__NR_ioctl, 0, Number.tiocsti)
    case .outlive: return call(__NR_prctl, Number.prSetPdeathsig, 0)
    }
  }

  private func process(_ argument: String) -> Int { Int(argument) ?? 0 }

  /// The arguments are numbers, and NULL where the call takes a pointer.
  private func call(_ number: Int32, _ first: Int = 0, _ second: Int = 0, _ third: Int = 0) -> Int {
    whorl_system_call(Int(number), first, second, third, 0, 0)
  }

  private func opened(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = open(path, flags | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
    return descriptor
  }

  private func withSocket(kind: __socket_type, _ body: (Int32) -> Int) -> Int {
    let socket = socket(AF_UNIX, Int32(kind.rawValue), 0)
    guard socket >= 0 else { return -1 }
    defer { close(socket) }
    return body(socket)
  }

  private func send(to path: String, from socket: Int32, connecting: Bool) -> Int {
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &name) { name in
      name.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        return connecting
          ? Int(Glibc.connect(socket, address, length)) : sendto(socket, "x", 1, 0, address, length)
      }
    }
  }
}

/// Numbers that the C library's headers do not give to Swift.
private enum Number {
  static let ptraceSeize = 0x4206
  static let pidfdOpen = 434
  static let clone3 = 435
  static let ioUringSetup = 425
  static let cloneNewuser = 0x1000_0000
  static let tiocsti = 0x5412
  static let prSetPdeathsig = 1
}
