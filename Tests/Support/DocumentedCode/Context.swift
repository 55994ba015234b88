import Foundation
import LocalAuthentication

func checkContext() async {
  let context = LAContext()

  // "The default value is LABiometryType.none", "set only after you call canEvaluatePolicy"
  // https://developer.apple.com/documentation/localauthentication/lacontext/biometrytype
  check("context.biometryType.default", context.biometryType == .none, "\(context.biometryType)")
  // Non-nil when canEvaluatePolicy succeeds for a biometric policy; "Otherwise, its value is nil."
  // https://developer.apple.com/documentation/localauthentication/lacontext/evaluatedpolicydomainstate
  check("context.evaluatedPolicyDomainState.default", context.evaluatedPolicyDomainState == nil)
  // "The default value is 0, meaning that Touch ID authentication isn't reused."
  // https://developer.apple.com/documentation/localauthentication/lacontext/touchidauthenticationallowablereuseduration
  check("context.reuseDuration.default", context.touchIDAuthenticationAllowableReuseDuration == 0)
  // "When the property is nil—as it is by default": both titles.
  // https://developer.apple.com/documentation/localauthentication/lacontext/localizedfallbacktitle
  // https://developer.apple.com/documentation/localauthentication/lacontext/localizedcanceltitle
  check("context.localizedFallbackTitle.default", context.localizedFallbackTitle == nil)
  check("context.localizedCancelTitle.default", context.localizedCancelTitle == nil)

  // Properties declared { get set }.
  context.localizedFallbackTitle = ""  // "To eliminate the fallback option"
  check("context.localizedFallbackTitle.set", context.localizedFallbackTitle == "")
  let configured = LAContext()
  let maximum: TimeInterval = LATouchIDAuthenticationMaximumAllowableReuseDuration
  configured.touchIDAuthenticationAllowableReuseDuration = maximum
  check("context.reuseDuration.set", configured.touchIDAuthenticationAllowableReuseDuration == maximum)

  // "true if the policy can be evaluated" — the user has a finger enrolled.
  // https://developer.apple.com/documentation/localauthentication/lacontext/canevaluatepolicy(_:error:)
  var error: NSError?
  check(
    "context.canEvaluatePolicy.biometrics",
    context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: &error),
    error.map { describe($0) } ?? "false, without an error")
  check("context.canEvaluatePolicy.noError", error == nil)
  check(
    "context.canEvaluatePolicy.deviceOwner",
    LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil))
  check("context.biometryType", context.biometryType == .touchID, "\(context.biometryType)")
  check("context.evaluatedPolicyDomainState", context.evaluatedPolicyDomainState != nil)

  // "Compare the values you get from successive calls to this property to determine whether the
  // authorized database changed." It did not.
  let other = LAContext()
  _ = other.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil)
  check(
    "context.evaluatedPolicyDomainState.stable",
    other.evaluatedPolicyDomainState == context.evaluatedPolicyDomainState)

  // stateHash: "Returns nil if no biometry entities are enrolled", changes with the database.
  // https://developer.apple.com/documentation/localauthentication/ladomainstatebiometry (LADomainState.h)
  let state: LADomainState = context.domainState
  check("context.domainState.biometry.type", state.biometry.biometryType == .touchID)
  check("context.domainState.biometry.stateHash", state.biometry.stateHash?.isEmpty == false)
  check(
    "context.domainState.biometry.stable",
    state.biometry.stateHash == other.domainState.biometry.stateHash)
  // Companion stateHash: "Returns nil if no companion devices are paired."
  // https://developer.apple.com/documentation/localauthentication/ladomainstatecompanion (LADomainState.h)
  check(
    "context.domainState.companion",
    state.companion.availableCompanionTypes.isEmpty == (state.companion.stateHash == nil))
  // "Contains combined state hash data for biometry and companion state hashes": neither changed.
  // https://developer.apple.com/documentation/localauthentication/ladomainstate/statehash
  check("context.domainState.stateHash", state.stateHash == other.domainState.stateHash)

  // func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
  // https://developer.apple.com/documentation/localauthentication/lacontext/evaluatepolicy(_:localizedreason:reply:)
  if let success = await succeeds(
    "context.evaluatePolicy",
    {
      try await context.evaluatePolicy(
        .deviceOwnerAuthenticationWithBiometrics,
        localizedReason: "check evaluatePolicy")
    })
  {
    check("context.evaluatePolicy.result", success)
  }
}

func checkContextFailures() async {
  // "Displaying the required authentication user interface is forbidden."
  // https://developer.apple.com/documentation/localauthentication/laerror-swift.struct/code/notinteractive
  let silent = LAContext()
  check("context.interactionNotAllowed.default", silent.interactionNotAllowed == false)
  silent.interactionNotAllowed = true
  await fails("context.interactionNotAllowed", with: .notInteractive) {
    try await silent.evaluatePolicy(
      .deviceOwnerAuthenticationWithBiometrics,
      localizedReason: "never shown")
  }

  // invalidate(): "stops any pending policy evaluations, causing them to fail with appCancel"
  // https://developer.apple.com/documentation/localauthentication/lacontext/invalidate()
  let context = LAContext()
  let reply = Box<Result<Bool, any Error>>()
  context.evaluatePolicy(
    .deviceOwnerAuthenticationWithBiometrics,
    localizedReason: "be canceled by the app"
  ) { success, error in
    reply.put(error.map { .failure($0) } ?? .success(success))
  }
  context.invalidate()
  let result = await reply.wait(seconds: 30)
  await fails("context.invalidate.pending", with: .appCancel) { try result?.get() }

  // "Once an authentication context has been invalidated, it cannot be used for policy evaluation.
  // Invalidating a context that has been already invalidated has no effect."
  // https://developer.apple.com/documentation/localauthentication/laerror-swift.struct/code/invalidcontext
  context.invalidate()
  await fails("context.invalidate.invalidContext", with: .invalidContext) {
    try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "never shown")
  }
  // https://developer.apple.com/documentation/localauthentication/laerrordomain
  do {
    _ = try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "never shown")
    check("context.LAErrorDomain", false, "no error was thrown")
  } catch {
    check("context.LAErrorDomain", (error as NSError).domain == LAErrorDomain, "\(error)")
  }
}
