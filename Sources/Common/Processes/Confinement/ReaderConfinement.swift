// What a reader process gives up before libfprint runs, and what the vault process of one user gives up before
// a client reaches it. Begin with `ReaderConfinement` and `VaultConfinement`; `Landlock.swift` and `SystemCallFilter.swift`
// are their means.

internal import CLinux
internal import Glibc
package import Primitives

/// Permanently removes rights that libfprint does not need from a reader process: see
/// decision 0016 in `docs/decisions/readers.md`.
///
/// It keeps access to the readers' devices, to files that the libraries read, to the socket of its virtual reader and
/// to fprintd's template files. It loses the rest of the file system, other processes, and `connect`: the program that
/// started it connects to message buses for it.
package struct ReaderConfinement: Sendable {
  /// How the process was started.
  package enum Role: Sendable {
    /// As a child of the program that uses it, which makes its connections.
    case child
    /// As a system unit. The unit for fprintd connects to the system bus itself, so that fprintd sees the unit's own
    /// user, and may read every user's template files.
    case unit
  }

  private let rules: [Landlock.Rule]
  private let isFprintdUnit: Bool
  /// Under umockdev, whose preloaded library connects to umockdev's sockets.
  private let isInTestbed: Bool

  /// - Parameters:
  ///   - selection: the readers that the process may use.
  ///   - fprintd: the place of fprintd, for a selection that may use it.
  ///   - role: decides which further rights it keeps.
  ///   - testbed: umockdev's folder, if the process runs under umockdev.
  package init(
    for selection: ReaderSelection, fprintd: FprintdPlace, role: Role = .child, testbed: String? = nil
  ) {
    isInTestbed = testbed != nil
    isFprintdUnit = selection.adapter == .fprintd && role == .unit
    var rules = Landlock.libraries
    switch selection {
    case .virtualImage(let socket), .virtualStorage(let socket):
      // libfprint makes the socket, and removes one that an earlier reader has left.
      rules.append(.init(Landlock.folder(of: socket), [.makeSocket, .removeFile]))
    // Its devices are in the testbed.
    case .replay: break
    // Of fprintd's readers it only checks whether they are attached.
    default: rules += isFprintdUnit ? [.init("/sys", .read)] : Self.devices
    }
    if selection.adapter != .libfprint { rules.append(.init(fprintd.templates, .read)) }
    if let testbed { rules.append(.init(testbed, .all(in: .max).subtracting(.execute))) }
    self.rules = rules
  }

  /// Confines this process. Call it before the second thread starts: other threads would not be confined.
  ///
  /// Without Landlock in the kernel only the filter of system calls applies.
  package func enter() throws(ConfinementError) {
    try ConfinementError.requireOneThread()
    // Drop capabilities, so that root has no more rights than other owners of files.
    guard whorl_drop_capabilities(isFprintdUnit ? whorl_capability_to_read_files : 0) == 0 else {
      throw ConfinementError("capset", errno)
    }
    guard whorl_set_no_new_privileges() == 0 else { throw ConfinementError("no_new_privs", errno) }
    if let version = Landlock.version { try Landlock.restrict(to: rules, version: version) }
    try filter().install()
  }

  // MARK: Files

  /// USB readers, including those plugged in later, and SPI readers. libfprint also needs the HID device of an SPI
  /// reader. Without an SPI reader no HID devices are allowed, since they are keyboards and mice.
  private static var devices: [Landlock.Rule] {
    let nodes = Folder.names(in: "/dev") ?? []
    let serial = nodes.filter { $0.hasPrefix("spidev") }
    let human = serial.isEmpty ? [] : nodes.filter { $0.hasPrefix("hidraw") }
    return ["/sys", "/run/udev", "/etc/udev"].map { .init($0, .read) }
      + (["bus/usb"] + serial + human).map { .init("/dev/\($0)", .use) }
  }

  // MARK: System calls

  private func filter() -> SystemCallFilter {
    let process = UInt32(getpid())
    var filter = SystemCallFilter(newest: ForbiddenCalls.newestKnown)
    filter.refuse([ForbiddenCalls.clone3], with: ENOSYS)
    filter.refuse(ForbiddenCalls.all)
    if !isInTestbed {
      if !isFprintdUnit { filter.refuse([__NR_connect]) }
      let stream = (index: 1, mask: Self.socketKind, value: UInt32(SOCK_STREAM.rawValue))
      let local = (index: 0, mask: UInt32.max, value: UInt32(AF_UNIX))
      // The kernel's messages about devices that come and go.
      let devices: [(index: Int, mask: UInt32, value: UInt32)] = [
        (0, .max, UInt32(AF_NETLINK)), (2, .max, Self.kernelEvents),
      ]
      filter.allow(__NR_socket, only: [.init(local, stream), .init(devices[0], devices[1])])
      filter.allow(__NR_socketpair, only: [.init(local, stream)])
    }
    // Allow `clone` only to start a thread: no new process and no new namespace.
    filter.allow(__NR_clone, only: [.init((0, Self.newNamespaces | Self.thread, Self.thread))])
    // Allow signals only to this process: abort(3) sends one.
    for call in [__NR_kill, __NR_tgkill] { filter.allow(call, only: [.init((0, .max, process))]) }
    filter.allow(__NR_prlimit64, only: [.init((0, .max, 0)), .init((0, .max, process))])
    // Refuse calls by which the process could outlive the starter, or let other processes read its memory.
    filter.refuse(__NR_prctl, where: 0, isOneOf: [UInt32(PR_SET_PDEATHSIG), UInt32(PR_SET_DUMPABLE)])
    // Refuse to type into an inherited terminal, and to have signals sent to another process.
    filter.refuse(__NR_ioctl, where: 1, isOneOf: Self.ioctls)
    filter.refuse(__NR_fcntl, where: 1, isOneOf: Self.fcntls)
    return filter
  }

  /// `SOCK_TYPE_MASK` of `linux/net.h`: the other bits are flags.
  private static let socketKind: UInt32 = 0xF
  /// `NETLINK_KOBJECT_UEVENT` of `linux/netlink.h`.
  private static let kernelEvents: UInt32 = 15
  /// `CLONE_THREAD`, and `CLONE_NEWNS` with its sisters, of `linux/sched.h`.
  private static let thread: UInt32 = 0x0001_0000
  private static let newNamespaces: UInt32 = 0x7E02_0000
  /// `TIOCSTI`, `TIOCLINUX`, `FIOSETOWN`, `SIOCSPGRP` of `asm/ioctls.h` and `asm/sockios.h`.
  private static let ioctls: [UInt32] = [0x5412, 0x541C, 0x8901, 0x8902]
  /// `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX` of `asm/fcntl.h`.
  private static let fcntls: [UInt32] = [8, 10, 15]
}
