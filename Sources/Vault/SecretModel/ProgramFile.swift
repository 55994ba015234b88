/// The file that a process runs, as far as it tells programs apart that share limits and turns. A program's name tells
/// nothing, since the program chooses it.
package enum ProgramFile: Sendable, Hashable {
  /// A file of root's. No user can copy or rename it, so it stands for one program.
  case installed(device: UInt64, inode: UInt64)
  /// A file that its user can copy under any name, or one that the kernel does not reveal. All such files of a user count
  /// as one program.
  case other

  /// - Parameter owner: the user whose file it is; nil where that is not certain.
  package init(device: UInt64, inode: UInt64, owner: UInt32?) {
    self = owner == 0 ? .installed(device: device, inode: inode) : .other
  }
}
