// A feature of a program that its user may choose to open with a finger.
//
//     feature-gate status | enable | export | disable

#if canImport(Whorl)
  import Whorl

  let gate = BiometricFeatureGate(feature: "org.example.notes.export", store: try SecretStore.shared())

  func attempt(_ done: String, _ body: () async throws -> Void) async {
    do {
      try await body()
      print(done)
    } catch BiometricFeatureGateError.notEnabled {
      // A gate that is not enabled grants nothing: the feature asks for its own password, as it did before.
      print("a finger does not open this feature: type the notes' own password instead")
    } catch BiometricFeatureGateError.refused(.authenticationFailed) {
      print("refused: that finger is not enrolled")
    } catch BiometricFeatureGateError.refused(.biometryLockout) {
      print("refused: biometry is locked out until the passcode")
    } catch {
      print("refused: \(error)")
    }
  }

  switch CommandLine.arguments.dropFirst().first {
  case "status":
    switch await gate.availability() {
    case .available: print("biometry is available")
    case .unavailable(.notEnrolled): print("biometry is not available: no finger is enrolled")
    case .unavailable(.biometryLockout): print("biometry is not available: it is locked out")
    case .unavailable(let problem): print("biometry is not available: \(problem)")
    }
    print(await gate.isEnabled() ? "a finger opens the export" : "a finger does not open the export")
  case "enable":
    await attempt("enabled") { try await gate.enable(reason: "open the export with a finger") }
  case "export":
    await attempt("exported 3 notes") { try await gate.authenticate(reason: "export your notes") }
  case "disable":
    await attempt("disabled") { try await gate.disable(reason: "stop opening the export with a finger") }
  default:
    print("usage: feature-gate status | enable | export | disable")
  }
#else
  print("feature-gate uses the Swift API of Whorl, which is for Linux")
#endif
