/// Who speaks on a connection, as the kernel says it.
package struct Caller: Sendable, Hashable {
  /// The user, for whom the store that is opened has to be.
  package var user: UInt32
  /// The program, told by its start time from another that gets its number later; nil where the vault is in the
  /// caller's own process.
  package var process: ProcessInstance?
  /// What the program is called in prompts, where that is known: never a permission.
  package var label: String?

  /// One run of a program.
  package struct ProcessInstance: Sendable, Hashable {
    package var id: Int32
    /// In clock ticks since boot, as `/proc/ID/stat` has it.
    package var started: UInt64

    package init(id: Int32, started: UInt64) {
      self.id = id
      self.started = started
    }
  }

  package init(user: UInt32, process: ProcessInstance? = nil, label: String? = nil) {
    self.user = user
    self.process = process
    self.label = label
  }
}
