import ArgumentParser

/// The option of the commands that set a passcode.
struct GuessablePasscodeOption: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Take also a passcode that a day of guesses finds.",
      discussion:
        "Where the store's keys are not in a TPM, whoever has a copy of the store can try 20 million passcodes a day on one "
        + "large machine, without being counted."))
  var allowGuessable = false
}
