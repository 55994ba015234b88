// Errors of the vault by their names on the bus, and from the errors of files.

internal import Glibc
package import Primitives

extension VaultError {
  /// All that is known of the error.
  package var described: VaultErrorDescription { .of(self) }
  /// The name of the error, without its associated values.
  package var name: VaultErrorName { described.name }
  /// What the error means to a person.
  package var explanation: Explanation { described.explanation }

  /// The error with this name and these details; nil where the details are not those of the error.
  package init?(_ name: VaultErrorName, _ details: VaultErrorDetails) {
    guard let error = VaultErrorMakers.all[name]?(details) else { return nil }
    self = error
  }
}

extension VaultErrorName {
  /// The name on the bus, behind a prefix, and in the log: "ItemGone".
  package var word: String { self == .tpm ? "TPM" : rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

  private static let byWord = Dictionary(uniqueKeysWithValues: allCases.map { ($0.word, $0) })

  /// Nil for a word that no error has.
  package init?(word: String) {
    guard let name = Self.byWord[word] else { return nil }
    self = name
  }
}

/// Makes errors from their names and details.
private enum VaultErrorMakers {
  static let all = {
    var makers = VaultError.withOtherDetails
    for error in VaultError.withoutDetails { makers[error.name] = { _ in error } }
    for make in VaultError.withText { makers[make("").name] = { $0.text.map(make) } }
    for make in VaultError.withNumber { makers[make(0).name] = { $0.number.map(make) } }
    for make in VaultError.withItem {
      makers[make(ItemName(unchecked: "", account: "")).name] = { $0.item.map(make) }
    }
    return makers
  }()
}

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

  package static func onFile(_ failure: WholeFile.Failure) -> VaultError { onFile(failure.what, failure.code) }

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
