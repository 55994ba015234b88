import Glibc
import SoftwareTPM
import VaultDriver

@testable import Vault
@testable import VaultStore

/// A machine with a software TPM, and the folder of its service's stores with the machine's record.
final class MachineWithTPM: Sendable {
  let software: SoftwareTPM
  let folder: String

  init() throws {
    software = try SoftwareTPM()
    var template = Array("/tmp/whorl-record-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw VaultError.inputOutput("no folder") }
    // The default limit is three wrong values, and each loss of power after one counts as another.
    try software.setLockout(limit: 30)
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? ScratchStore.run("/bin/rm", ["-rf", folder]) }

  /// The storage for keys of a service that starts now.
  var storage: RootStorage { .tpm(software.tpm, RollbackGuard(in: folder, software.tpm)) }

  /// The file of the record.
  var file: String { folder + "/record" }
  var record: MachineRecord? { get throws { try MachineRecord.read(in: folder, software.tpm)?.0 } }

  func keepRecord() throws { try ScratchStore.run("/bin/cp", ["-a", file, folder + "/kept"]) }
  func putRecordBack() throws { try ScratchStore.run("/bin/cp", ["-a", folder + "/kept", file]) }
}
