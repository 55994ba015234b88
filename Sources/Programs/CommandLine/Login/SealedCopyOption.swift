import ArgumentParser
import SecretModel

/// The option for the keys that a keyring's copy is sealed under.
struct SealedCopyOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What opens the copy of the keyring's secret: recovery-key or passcode-and-recovery-key.",
      discussion:
        "Nobody can guess a recovery key. On a copy under the passcode, which is asked for, whoever reads that file can "
        + "try passcodes without being counted. Default: recovery-key.", valueName: "keys"))
  var sealedUnder: SealedCopy.Keys?
}

extension SealedCopy.Keys: ExpressibleByArgument {}
