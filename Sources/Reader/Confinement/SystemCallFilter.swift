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
