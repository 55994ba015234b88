internal import Glibc
package import SecureMemory

extension VaultError {
  /// The error for a system call that has failed on a file.
  ///
  /// - Parameters:
  ///   - what: what could not be done, such as "cannot make" and a path.
  ///   - code: its error number.
  package static func onFile(_ what: String, _ code: Int32 = errno) -> VaultError {
    [ENOSPC, EDQUOT].contains(code)
      ? .diskFull(what) : .inputOutput(unsafe "\(what): \(String(cString: strerror(code)))")
  }

  /// The error for a failed write.
  package static func onWriting(_ what: String, _ error: WriteError) -> VaultError {
    switch error {
    case .closed: .inputOutput("\(what): \(error)")
    case .system(let code): .onFile(what, code)
    }
  }
}

extension Explanation {
  /// What to do if the system has refused to read or write a file, with this error number.
  package static func advice(onFileError code: Int32) -> String {
    switch code {
    case ENOSPC, EDQUOT: "make room on the disk, then try again"
    case EROFS: "name another place: nothing can be written there"
    case EACCES, EPERM: "see who may read and write there"
    default: "check the disk's space and state, and who may read and write there"
    }
  }
}
