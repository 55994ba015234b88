import ArgumentParser

/// The option of commands that need the recovery key if a store has no passcode.
struct RecoveryKeyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("Read the recovery key from this descriptor (a store without a passcode).", valueName: "n"),
    transform: GivenDescriptors.number)
  var recoveryFd: Int32?
}
