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
