import Glibc
import SecureMemory
import Vault

/// Where the answers to the vault's questions come from: a script's descriptors, else the person at the terminal.
struct Answers: Sendable {
  /// The longest passcode, password or recovery key that is read at all; the vault has rules of its own.
  static let limit = 1024

  var passcode: Int32?
  var recoveryKey: Int32?
  var applicationPassword: Int32?
  /// A passcode or recovery key that was given before the vault could ask for it.
  var given: SecretHolder?
  /// Nobody may be asked.
  var noPrompt = false

  /// Whether there is any way to give the passcode.
  var canAnswer: Bool { passcode != nil || given != nil || (!noPrompt && Terminal.current != nil) }

  /// Answers one question of the vault.
  func answer(_ request: SecretRequest) throws(Failure) -> SecretBytes {
    switch request {
    case .passcode(let attempt):
      if attempt == 1, let given { return given.copy() }
      if let passcode {
        // A script has said what it knows; asking again would eat the line of the new passcode.
        guard attempt == 1 else { throw Failure(.wrongPasscode) }
        return try line(of: passcode, "passcode")
      }
      return try ask(attempt == 1 ? "Passcode" : "Wrong passcode. Passcode", option: "--passcode-fd")
    case .newPasscode:
      return try newPasscode()
    case .recoveryKey:
      if let given { return given.copy() }
      if let recoveryKey { return try line(of: recoveryKey, "recovery key") }
      return try ask("Recovery key", option: "--recovery-fd")
    case .applicationPassword(let name):
      if let applicationPassword { return try line(of: applicationPassword, "application password") }
      return try ask("Application password of \(name)", option: "--app-password-fd")
    }
  }

  func newPasscode() throws(Failure) -> SecretBytes {
    if let passcode { return try line(of: passcode, "new passcode") }
    return try terminal("a new passcode", option: "--passcode-fd").readNewSecret("passcode", limit: Self.limit)
  }

  /// A new application password is typed twice: a mistyped one would lose the secret.
  func newApplicationPassword(of name: ItemName) throws(Failure) -> SecretBytes {
    if let applicationPassword { return try line(of: applicationPassword, "application password") }
    return try terminal("an application password", option: "--app-password-fd")
      .readNewSecret("application password of \(name)", limit: Self.limit)
  }

  /// Asks for a yes; `assent` is the option that gives it beforehand.
  func confirm(_ question: String, assent: String) throws(Failure) {
    guard !noPrompt, let terminal = Terminal.current else {
      throw .interactionNotAllowed("this needs a yes and nobody is there to give it", advice: "give it with \(assent)")
    }
    guard try terminal.confirm(question) else { throw .cancelled }
  }

  private func ask(_ prompt: String, option: String) throws(Failure) -> SecretBytes {
    try terminal(prompt.lowercased(), option: option).readSecret(prompt, limit: Self.limit)
  }

  private func terminal(_ what: String, option: String) throws(Failure) -> Terminal {
    guard !noPrompt, let terminal = Terminal.current else {
      throw .interactionNotAllowed(
        "\(what) is needed and there is no terminal to ask at", advice: "give it with \(option)")
    }
    return terminal
  }

  private func line(of descriptor: Int32, _ what: String) throws(Failure) -> SecretBytes {
    do {
      return try SecretBytes.readLine(from: descriptor, limit: Self.limit)
    } catch {
      switch error {
      case .tooLong(let limit):
        throw .usage("the \(what) on descriptor \(descriptor) is longer than \(limit) bytes")
      case .endOfInput:
        throw .usage(
          "descriptor \(descriptor) has no line for the \(what)", advice: "write one line for each that is asked")
      case .system(let code):
        throw .cannotRead("the \(what) from descriptor \(descriptor)", code)
      }
    }
  }
}
