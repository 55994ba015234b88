// The program that asks, and the state of its login session.

/// The client of a connection, as the kernel identifies it.
package struct Caller: Sendable, Hashable {
  /// The user. Only this user's store may be opened.
  package var user: UInt32
  /// The process; nil if the vault runs in the caller's own process.
  package var process: ProcessInstance?
  /// The program's name on prompts, where known. Never used for permissions.
  package var label: String?
  /// The file that the process runs, which identifies the program for limits and turns.
  package var file: ProgramFile
  /// The login program for which the PAM module asks; nil for any other program of the user.
  package var login: LoginProgram?

  /// A process, identified by its ID and start time, since IDs are reused.
  package struct ProcessInstance: Sendable, Hashable {
    package var id: Int32
    /// The start time, in clock ticks since boot, from `/proc/ID/stat`.
    package var started: UInt64

    package init(id: Int32, started: UInt64) {
      self.id = id
      self.started = started
    }
  }

  package init(
    user: UInt32, process: ProcessInstance? = nil, label: String? = nil, file: ProgramFile = .other,
    login: LoginProgram? = nil
  ) {
    self.user = user
    self.process = process
    self.label = label
    self.file = file
    self.login = login
  }
}

/// A program that authenticates people through PAM, as the PAM module describes it.
package struct LoginProgram: Sendable, Hashable {
  /// Whether it is a login program, which belongs to no session before the login.
  package var isGreeter: Bool
  /// Whether it is a program of the user's own that unlocks the user's screen. It is not root's, and may be any program.
  package var isLocker: Bool
  /// The seat that it reports; empty if it reports none.
  package var seat: String
  /// The terminal that it reports; empty if it reports none.
  package var terminal: String
  /// The process that it works for, if the system has started it for that: the polkit agent of polkit's helper.
  package var agent: Caller.ProcessInstance?

  package init(
    isGreeter: Bool, isLocker: Bool = false, seat: String, terminal: String, agent: Caller.ProcessInstance? = nil
  ) {
    self.isGreeter = isGreeter
    self.isLocker = isLocker
    self.seat = seat
    self.terminal = terminal
    self.agent = agent
  }
}

/// The file that a process runs, which identifies the program for limits and turns. A program's name does not, since
/// the program chooses it.
package enum ProgramFile: Sendable, Hashable {
  /// A file of root's. No user can rename it or make another file of root's, so it identifies one program.
  case installed(device: UInt64, inode: UInt64)
  /// A file that a user can copy under any name, or that the kernel does not reveal. All such files of a user count as
  /// one program.
  case other

  /// - Parameter owner: the owner of the file; nil if that is not certain.
  package init(device: UInt64, inode: UInt64, owner: UInt32?) {
    self = owner == 0 ? .installed(device: device, inode: inode) : .other
  }
}

/// Lets a client notice that its user may be able to authenticate in another way than before. Values of different
/// connections cannot be compared.
package struct Surroundings: Sendable, Hashable {
  /// Grows when the fingers, the passcode, a lockout or the store's lock changes, when the sessions are locked, and when a
  /// USB device is plugged in or pulled out.
  package var changes: Int
  /// How often the store was locked, or all sessions of the user were, or the machine was about to sleep.
  package var locks: Int
  /// Why the state of the caller's login session, or the lid, allows no finger; nil if both allow one.
  package var refusal: SessionRefusal?

  package init(changes: Int, locks: Int, refusal: SessionRefusal?) {
    self.changes = changes
    self.locks = locks
    self.refusal = refusal
  }
}

/// Decides by the machine's login sessions. The vault calls it before and while a reader is armed, and before it
/// releases items that need an unlocked session. A private vault uses ``NoSessionGate``.
package protocol SessionGate: Sendable {
  /// Why no finger may be asked for now, for this program; nil if one may.
  ///
  /// - Parameter place: where the reader is.
  func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal?
  /// Why the state of this program's login session, or the lid, allows no finger; nil if both allow one. Rules of the
  /// machine for single programs are not asked.
  func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal?
  /// Waits until ``sessionRefusal(for:at:)``, for a reader under the lid, differs from `known`, or the task is
  /// cancelled.
  func sessionChange(from known: SessionRefusal?, for caller: Caller) async
  /// Waits until no finger may be asked for any more, for this program, and returns the reason. After a cancel the
  /// result has no meaning.
  func untilRefused(for caller: Caller) async -> SessionRefusal
  /// Whether a session of this user is unlocked now, for ``Accessibility/whenUnlocked``. Runs on the caller's executor,
  /// since every release of such an item calls it.
  nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool
}

/// Whether a reader can be touched while the lid is closed.
package enum ReaderPlace: Sendable, Hashable {
  /// It can, or its place is not known.
  case inReach
  /// It cannot: it is built in and the only reader of its adapter.
  case underLid
}

/// Why the state of a login session does not allow to ask for a finger.
public enum SessionRefusal: String, Sendable, Hashable, CaseIterable {
  /// The program belongs to no login session, and its user has none at the machine.
  case noSession = "no-session"
  /// The session is remote.
  case remote = "remote"
  /// Another session is in the foreground of the seat.
  case inactive = "inactive"
  /// The screen is locked.
  case locked = "locked"
  /// The lid is closed, and the only reader is inside.
  case lidClosed = "lid-closed"
  /// The machine is about to sleep.
  case sleeping = "sleeping"
  /// The administrator's polkit rules forbid it.
  case notPermitted = "not-permitted"
  /// logind or polkit cannot be asked.
  case unknown = "unknown"
}

/// Refuses nothing. For a private vault, which serves one program of its own user and ignores sessions.
package struct NoSessionGate: SessionGate {
  package init() {}

  package func refusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? { nil }

  package func sessionRefusal(for caller: Caller, at place: ReaderPlace) async -> SessionRefusal? { nil }

  package func sessionChange(from known: SessionRefusal?, for caller: Caller) async { await untilCancelled() }

  package func untilRefused(for caller: Caller) async -> SessionRefusal {
    await untilCancelled()
    return .unknown
  }

  private func untilCancelled() async {
    let (changes, source) = AsyncStream.makeStream(of: Void.self)
    for await _ in changes {}
    withExtendedLifetime(source) {}
  }

  package nonisolated(nonsending) func isUnlocked(_ user: UInt32) async -> Bool { true }
}
