import ArgumentParser

/// The option of the commands that take the recovery key where a store has no passcode.
struct RecoveryKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor (a store without a passcode).", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?
}
