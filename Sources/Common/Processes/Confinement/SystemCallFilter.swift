internal import CLinux
internal import Glibc

/// A filter of system calls for seccomp(2): a program of classic BPF that checks the number and the arguments.
///
/// It cannot follow pointers, so it does not know which path or address a call uses.
struct SystemCallFilter {
  private var program: [sock_filter] = []

  /// - Parameter newest: the highest known number. Newer calls fail with ENOSYS, as do those of the x32 ABI, which have
  ///   much higher numbers.
  init(newest: Int32) {
    load(architectureOffset)
    program.append(jump(BPF_JEQ, whorl_filter_architecture, ifTrue: 1, ifFalse: 0))
    answer(whorl_filter_kill)
    load(numberOffset)
    program.append(jump(BPF_JGT, UInt32(newest), ifTrue: 0, ifFalse: 1))
    fail(ENOSYS)
  }

  /// Denies calls with any arguments.
  mutating func refuse(_ calls: [Int32], with code: Int32 = EPERM) {
    for call in calls {
      program.append(jump(BPF_JEQ, UInt32(call), ifTrue: 0, ifFalse: 1))
      fail(code)
    }
  }

  /// A set of argument values: a call matches it if all of these arguments have these values.
  struct Form {
    /// The bits of an argument that are compared, and their value. Only the lower 32 bits are compared, since the
    /// kernel uses no others here.
    var arguments: [(index: Int, mask: UInt32, value: UInt32)]

    init(_ arguments: (index: Int, mask: UInt32, value: UInt32)...) { self.arguments = arguments }
  }

  /// Denies a call in all forms except these.
  mutating func allow(_ call: Int32, only forms: [Form]) {
    judge(call, forms, matching: whorl_filter_allow, other: Self.failure(EPERM))
  }

  /// Denies a call if the argument has one of these values.
  mutating func refuse(_ call: Int32, where argument: Int, isOneOf values: [UInt32]) {
    judge(
      call, values.map { Form((argument, .max, $0)) }, matching: Self.failure(EPERM), other: whorl_filter_allow)
  }

  /// Installs the filter for this thread and all that it starts. `no_new_privs` has to be set before.
  consuming func install() throws(ConfinementError) {
    answer(whorl_filter_allow)
    // The kernel copies the program during the call.
    guard whorl_install_filter(program, UInt16(program.count)) == 0 else { throw ConfinementError("seccomp", errno) }
  }

  // MARK: Instructions

  /// The accumulator holds the call's number at the beginning, and after the code if it is skipped.
  private mutating func judge(_ call: Int32, _ forms: [Form], matching: UInt32, other: UInt32) {
    // Each argument is loaded, masked and compared; a form ends with its answer.
    let length = forms.reduce(1) { $0 + $1.arguments.count * 3 + 1 }
    program.append(jump(BPF_JEQ, UInt32(call), ifTrue: 0, ifFalse: UInt8(length)))
    for form in forms {
      for (position, argument) in form.arguments.enumerated() {
        load(argumentsOffset + argument.index * 8)
        program.append(statement(BPF_ALU | BPF_AND | BPF_K, argument.mask))
        let rest = UInt8((form.arguments.count - position - 1) * 3 + 1)
        program.append(jump(BPF_JEQ, argument.value, ifTrue: 0, ifFalse: rest))
      }
      answer(matching)
    }
    answer(other)
  }

  private mutating func load(_ offset: Int) {
    program.append(statement(BPF_LD | BPF_W | BPF_ABS, UInt32(offset)))
  }

  private mutating func answer(_ answer: UInt32) {
    program.append(statement(BPF_RET | BPF_K, answer))
  }

  private mutating func fail(_ code: Int32) { answer(Self.failure(code)) }

  private static func failure(_ code: Int32) -> UInt32 { whorl_filter_fail | UInt32(code) }

  private func statement(_ code: Int32, _ value: UInt32) -> sock_filter {
    sock_filter(code: UInt16(code), jt: 0, jf: 0, k: value)
  }

  private func jump(_ test: Int32, _ value: UInt32, ifTrue: UInt8, ifFalse: UInt8) -> sock_filter {
    sock_filter(code: UInt16(BPF_JMP | test | BPF_K), jt: ifTrue, jf: ifFalse, k: value)
  }
}

// Offsets in `struct seccomp_data`. The lower half of an argument comes first, on the little-endian machines that Swift
// supports.
private let numberOffset = 0
private let architectureOffset = 4
private let argumentsOffset = 16

/// The system calls that a reader process does not need, grouped by what an attacker would use them for.
enum ForbiddenCalls {
  /// The newest call that was considered for this list: `mseal` of Linux 6.10.
  static let newestKnown: Int32 = 462

  static let all = programs + otherProcesses + namesOfFiles + kernel + users + sharedMemory + older

  /// `clone3` takes its flags in memory, which the filter cannot read. The C library falls back to `clone` if the
  /// kernel has no `clone3`.
  static let clone3 = NewCall.clone3

  /// Calls to run another program, or to leave the process group that the starter kills.
  private static let programs: [Int32] = [
    __NR_execve, __NR_execveat, __NR_unshare, __NR_setns, __NR_setsid, __NR_setpgid, __NR_personality,
  ]

  private static let otherProcesses: [Int32] = [
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_tkill, __NR_rt_sigqueueinfo,
    __NR_rt_tgsigqueueinfo, __NR_migrate_pages, __NR_move_pages,
    NewCall.pidfdSendSignal, NewCall.pidfdOpen, NewCall.pidfdGetfd, NewCall.processMadvise,
    NewCall.processMrelease,
  ]

  /// Changes of files by name that Landlock does not restrict.
  private static let namesOfFiles: [Int32] = [
    __NR_fchmod, __NR_fchmodat, NewCall.fchmodat2, __NR_fchown, __NR_fchownat, __NR_truncate, __NR_utimensat,
    __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr, __NR_fremovexattr,
    __NR_name_to_handle_at, __NR_open_by_handle_at, __NR_fanotify_init, __NR_fanotify_mark, __NR_chroot, __NR_mknodat,
  ]

  /// Machine administration, and parts of the kernel with many known vulnerabilities.
  private static let kernel: [Int32] = [
    __NR_bpf, __NR_perf_event_open, __NR_userfaultfd, __NR_keyctl, __NR_add_key, __NR_request_key,
    NewCall.ioUringSetup, NewCall.ioUringEnter, NewCall.ioUringRegister,
    __NR_mount, __NR_umount2, __NR_pivot_root, NewCall.openTree, NewCall.moveMount, NewCall.fsopen,
    NewCall.fsconfig, NewCall.fsmount, NewCall.fspick, NewCall.mountSetattr, __NR_quotactl,
    NewCall.quotactlFd,
    __NR_swapon, __NR_swapoff, __NR_acct, __NR_syslog, __NR_vhangup, __NR_reboot, __NR_kexec_load, __NR_kexec_file_load,
    __NR_init_module,
    __NR_finit_module, __NR_delete_module, __NR_settimeofday, __NR_clock_settime, __NR_clock_adjtime, __NR_adjtimex,
    __NR_sethostname, __NR_setdomainname, NewCall.lsmSetSelfAttr,
  ]

  private static let users: [Int32] = [
    __NR_setuid, __NR_setgid, __NR_setreuid, __NR_setregid, __NR_setresuid, __NR_setresgid, __NR_setgroups,
    __NR_setfsuid, __NR_setfsgid, __NR_capset,
  ]

  /// Shared memory and queues that a user's processes can find by number.
  private static let sharedMemory: [Int32] = [
    __NR_shmget, __NR_shmat, __NR_shmctl, __NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl, __NR_semget, __NR_semop,
    __NR_semtimedop, __NR_semctl, __NR_mq_open, __NR_mq_unlink,
  ]

  #if arch(x86_64)
    private static let older: [Int32] = [
      __NR_fork, __NR_vfork, __NR_chmod, __NR_chown, __NR_lchown, __NR_mknod, __NR_utime, __NR_utimes, __NR_futimesat,
      __NR_iopl, __NR_ioperm, __NR_modify_ldt, __NR_uselib,
    ]
  #else
    private static let older: [Int32] = []
  #endif
}

/// The numbers of newer calls. They are the same on every architecture, and the headers of older systems lack them.
private enum NewCall {
  static let pidfdSendSignal: Int32 = 424
  static let ioUringSetup: Int32 = 425
  static let ioUringEnter: Int32 = 426
  static let ioUringRegister: Int32 = 427
  static let openTree: Int32 = 428
  static let moveMount: Int32 = 429
  static let fsopen: Int32 = 430
  static let fsconfig: Int32 = 431
  static let fsmount: Int32 = 432
  static let fspick: Int32 = 433
  static let pidfdOpen: Int32 = 434
  static let clone3: Int32 = 435
  static let pidfdGetfd: Int32 = 438
  static let processMadvise: Int32 = 440
  static let mountSetattr: Int32 = 442
  static let quotactlFd: Int32 = 443
  static let processMrelease: Int32 = 448
  static let fchmodat2: Int32 = 452
  static let lsmSetSelfAttr: Int32 = 460
}
