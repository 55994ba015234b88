import ArgumentParser
import SecretModel
import Whorl

struct Reseal: Command {
  static let configuration = CommandConfiguration(
    commandName: "reseal",
    abstract: "Seal the keys of the store in the machine's TPM.",
    discussion: """
      Moves a store of the system service from a key file to the TPM, or seals a store's keys in the TPM anew. Asks for \
      the passcode. What is stored stays as it is, and the recovery key opens the store as before.

      The key file is deleted. Copies of the disk from before, and what the disk still holds of the file, open the store \
      as before with the passcode of that time.

      Examples:
        whorl reseal
        whorl reseal --passcode-fd 3 3<passcode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var recovery: RecoveryKeyOption

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let store = try await session.store()
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    try await session.asking(store, answers) { try await store.reseal($0) }
    let status = try await session.explained { () async throws(VaultError) in try await store.status() }
    let tier = status.tier.spoken(in: try session.place())
    if options.json { return try JSON.print(Report(tier: tier)) }
    StandardError.line("The keys of the store are sealed: \(tier).")
  }

  private struct Report: Encodable {
    var tier: String
  }
}
