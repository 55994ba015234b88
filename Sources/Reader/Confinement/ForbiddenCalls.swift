internal import CLinux

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
