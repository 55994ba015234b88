internal import Primitives
package import SecretModel

extension AuditEntry {
  /// What the person was asked for and what else happened, each in a few words.
  package var details: [String] {
    var words: [String] = []
    if !prompts.isEmpty {
      words.append(Text.of("asked for {prompts}", ["prompts": prompts.map(\.spoken).joined(separator: ", ")]))
    }
    if wrongPasscodes > 0 {
      words.append(Text.plural("{count} wrong passcode", "{count} wrong passcodes", wrongPasscodes))
    }
    if unmatchedTouches > 0 {
      words.append(
        Text.plural("{count} touch matched nobody", "{count} touches matched nobody", unmatchedTouches))
    }
    if isSetChanged { words.append(Text.of("the enrolled fingers were changed")) }
    if omitted > 0 {
      words.append(Text.plural("{count} request before it left out", "{count} requests before it left out", omitted))
    }
    return words
  }
}

extension AuditEntry.Outcome {
  /// "done", "authentication failed".
  package var spoken: String {
    switch self {
    case .done: return Text.of("done")
    case .rejected: return Text.of("rejected by another program")
    case .failed(.timedOut): return Text.of("not answered")
    case .failed(.cancelled): return Text.of("cancelled")
    case .failed(.authenticationFailed): return Text.of("authentication failed")
    case .failed(.wrongPasscode): return Text.of("wrong passcode")
    case .failed(.biometryLockout): return Text.of("biometry lockout")
    case .failed(.notUnlocked): return Text.of("not unlocked")
    case .failed(.interactionNotAllowed): return Text.of("interaction not allowed")
    case .failed(let name):
      var words = ""
      for character in name.rawValue {
        if character.isUppercase, !words.isEmpty { words += " " }
        words += character.lowercased()
      }
      return words
    }
  }
}

extension AuditEntry.Request {
  /// "read", "use key".
  package var spoken: String {
    switch self {
    case .makeStore: Text.of("make store")
    case .rebuildDeviceKey: Text.of("rebuild device key")
    case .read: Text.of("read")
    case .add: Text.of("add")
    case .change: Text.of("change")
    case .delete: Text.of("delete")
    case .useKey: Text.of("use key")
    case .makePasskey: Text.of("make passkey")
    case .assertPasskey: Text.of("assert passkey")
    case .evaluate: Text.of("evaluate")
    case .enroll: Text.of("enroll")
    case .unenroll: Text.of("unenroll")
    case .unlock: Text.of("unlock")
    case .lock: Text.of("lock")
    case .changePasscode: Text.of("change passcode")
    case .removePasscode: Text.of("remove passcode")
    case .recover: Text.of("recover")
    case .newRecoveryKey: Text.of("new recovery key")
    case .reseal: Text.of("reseal")
    case .setFirstUnlock: Text.of("set first unlock")
    case .acceptRestore: Text.of("accept restore")
    case .sealCopy: Text.of("seal copy")
    case .backUp: Text.of("back up")
    case .restore: Text.of("restore")
    case .useAdapter: Text.of("use adapter")
    case .joinCircle: Text.of("join circle")
    case .changeCircle: Text.of("change circle")
    case .resolve: Text.of("resolve")
    case .verifyLogin: Text.of("verify login")
    case .unlockScreen: Text.of("unlock screen")
    case .loginPassword: Text.of("login password")
    }
  }
}

extension AuditEntry.Prompt {
  fileprivate var spoken: String {
    switch self {
    case .touch: Text.of("touch")
    case .passcode: Text.of("passcode")
    case .newPasscode: Text.of("new passcode")
    case .recoveryKey: Text.of("recovery key")
    case .applicationPassword: Text.of("application password")
    }
  }
}
