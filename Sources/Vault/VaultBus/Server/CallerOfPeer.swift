internal import Glibc
internal import Processes
package import SDBus
package import SecretModel

extension Caller {
  /// The program at the other end of a socket.
  ///
  /// Nil if it has ended, or cannot be seen from this process's PID namespace. If the kernel has pidfds of sockets
  /// (Linux 6.5), start time and label are certainly those of the program that connected.
  package init?(_ peer: BusPeer) {
    guard let started = ProcessHandle.start(of: peer.processID) else { return nil }
    let label = ProgramLabel.text(of: peer.processID)
    // The kernel reveals it to a private vault. The system service asks another unit.
    let file = ExecutedFile(of: peer.processID).map {
      ProgramFile(device: $0.device, inode: $0.inode, owner: $0.owner)
    }
    if let process = peer.process {
      // A pidfd becomes readable when its process ends. If the process still runs, the values read above are its own.
      var polled = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
      guard poll(&polled, 1, 0) == 0 else { return nil }
    } else if ProcessHandle.start(of: peer.processID) != started {
      return nil
    }
    self.init(
      user: peer.userID, process: ProcessInstance(id: peer.processID, started: started), label: label,
      file: file ?? .other)
  }
}
