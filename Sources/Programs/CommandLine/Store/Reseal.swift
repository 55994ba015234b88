import ArgumentParser
import CommandBase
import SecretModel
import Settings
import Whorl

struct Reseal: Command {
  static let configuration = CommandConfiguration(
    commandName: "reseal",
    abstract: "Seal the keys of the store in the machine's TPM or under its systemd credential.",
    discussion: """
      Moves a store of the system service from a key file to the TPM, or to the systemd credential that the administrator \
      has made, or seals its keys there anew. The settings say which of them it is (whorld.conf(5)). Asks for the passcode. What is stored stays as it is, and the recovery key opens the store as before.

      The key file is deleted. Copies of the disk from before, and what the disk still holds of the file, open the store \
      as before with the passcode of that time.

      --pcr has the TPM open the keys only while these registers (PCRs) have the values of now, as 7, the state of Secure \
      Boot. A system that somebody else starts on the machine then reads nothing. An update of the firmware or of the keys \
      of Secure Boot can change a register as well, and after that only the recovery key opens the store ('whorl recover'), \
      so it is asked for first. Without --pcr the keys are sealed to no register.

      Examples:
        whorl reseal
        whorl reseal --passcode-fd 3 3<passcode
        whorl reseal --pcr 7
        whorl reseal --pcr 7 --recovery-fd 4 --passcode-fd 3 4<recovery 3<passcode
      """)

  @OptionGroup var options: GlobalOptions
  @OptionGroup var recovery: RecoveryKeyOption

  @Option(
    help: ArgumentHelp("Seal to these registers, from 0 to 15, separated by commas.", valueName: "numbers"),
    transform: Reseal.registers)
  var pcr: [UInt8] = []

  @Sendable
  private static func registers(_ text: String) throws -> [UInt8] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { number in
      guard let register = UInt8(number), register < 16 else {
        throw ValidationError("'\(number)' is no register from 0 to 15.")
      }
      return register
    }
  }

  func perform(_ session: Session, _ hardening: Hardening) async throws(Failure) {
    let answers = session.answers(recoveryKey: recovery.recoveryFd)
    if !pcr.isEmpty {
      StandardError.line(
        "After an update of the firmware, or another change that these registers measure, only the recovery key opens the "
          + "store. Show that you have it.")
    }
    let registers = pcr
    let before = try await session.request { try await $0.status() }
    do throws(Failure) {
      try await session.asking(answers) { try await $0.reseal(to: registers, $1) }
    } catch {
      guard case .tpm(.absent, let detail)? = error.cause, before.tier == .keyFile else { throw error }
      throw Failure(error.status, .noTPMForKeyFile(detail), name: error.name)
    }
    let status = try await session.request { try await $0.status() }
    let keys = status.tier.spoken(in: try session.place())
    if options.json { return try JSON.print(Report(tier: keys)) }
    StandardError.line("The keys of the store are sealed: \(keys).")
  }

  private struct Report: Encodable {
    var tier: String
  }
}
