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
  /// The login program for which root's PAM module asks; nil for a program of the user.
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

/// A program that authenticates people through PAM, as root's PAM module describes it.
package struct LoginProgram: Sendable, Hashable {
  /// Whether it is a login program, which belongs to no session before the login.
  package var isGreeter: Bool
  /// The seat that it reports; empty if it reports none.
  package var seat: String
  /// The terminal that it reports; empty if it reports none.
  package var terminal: String

  package init(isGreeter: Bool, seat: String, terminal: String) {
    self.isGreeter = isGreeter
    self.seat = seat
    self.terminal = terminal
  }
}
