// swift-format-ignore-file: NeverForceUnwrap, NeverUseImplicitlyUnwrappedOptionals
// Written as articles write it.

import LocalAuthentication
import Testing

/// A test double as in programs' own tests: overrides every open member, in the older form without annotations.
class StandInContext: LAContext {
  var isUsable = true
  var answer: (Bool, Error?) = (true, nil)
  var invalidations = 0

  override init() { super.init() }

  override func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
    if !isUsable { error?.pointee = NSError(domain: LAErrorDomain, code: LAError.biometryNotEnrolled.rawValue) }
    return isUsable
  }
  override func evaluatePolicy(
    _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void
  ) {
    reply(answer.0, answer.1)
  }
  override func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation, localizedReason: String,
    reply: @escaping (Bool, Error?) -> Void
  ) {
    reply(answer.0, answer.1)
  }
  override func invalidate() { invalidations += 1 }
  override func setCredential(_ credential: Data?, type: LACredentialType) -> Bool { false }
  override func isCredentialSet(_ type: LACredentialType) -> Bool { true }
  override var biometryType: LABiometryType { .faceID }
  override var evaluatedPolicyDomainState: Data? { Data([1, 2, 3]) }
  override var localizedReason: String { didSet {} }
  override var localizedFallbackTitle: String? {
    get { "" }
    set { _ = newValue }
  }
  override var localizedCancelTitle: String? { didSet {} }
  override var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
    get { 10 }
    set { _ = newValue }
  }
  override var interactionNotAllowed: Bool {
    get { true }
    set { _ = newValue }
  }
}

/// A program's own protocol for contexts, to replace them in tests.
protocol Authenticating: AnyObject {
  var biometryType: LABiometryType { get }
  var evaluatedPolicyDomainState: Data? { get }
  var localizedFallbackTitle: String? { get set }
  func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool
  func evaluatePolicy(_ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, Error?) -> Void)
  func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool
  func invalidate()
}
extension LAContext: Authenticating {}

/// How programs map errors.
enum SignInProblem: Error, Equatable {
  case cancelled, fallback, notSetUp, locked, other(Int)

  init(_ error: Error) {
    switch error {
    case LAError.userCancel, LAError.appCancel, LAError.systemCancel: self = .cancelled
    case let error as LAError where error.code == .userFallback: self = .fallback
    default:
      guard let error = error as? LAError else {
        self = .other((error as NSError).code)
        return
      }
      switch error.code {
      case .biometryNotEnrolled, .passcodeNotSet, .touchIDNotAvailable: self = .notSetUp
      case .biometryLockout: self = .locked
      default: self = .other(error.errorCode)
      }
    }
  }

  init(number error: Error?) {
    switch error?._code {
    case LAError.userCancel.rawValue?: self = .cancelled
    case Int(kLAErrorUserFallback)?: self = .fallback
    case LAError.Code.touchIDNotEnrolled.rawValue?: self = .notSetUp
    case .some(let code): self = LAError.Code(rawValue: code) == .touchIDLockout ? .locked : .other(code)
    case .none: self = .other(0)
    }
  }
}

extension ClientCode {
  @Suite("Forms of an authentication")
  struct AuthenticationFormTests {
    @Test("an LAContext can be subclassed, and its async form calls the overridden form with a reply")
    func standIn() async throws {
      let context = StandInContext()
      let asked: Authenticating = context
      #expect(try await asked.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "sign in"))
      #expect(asked.biometryType == .faceID && asked.evaluatedPolicyDomainState == Data([1, 2, 3]))
      context.answer = (false, LAError(.userCancel))
      await #expect(throws: LAError.self) {
        try await context.evaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, localizedReason: "sign in")
      }
      let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil)!
      await #expect(throws: LAError.self) {
        try await context.evaluateAccessControl(control, operation: .useItem, localizedReason: "sign in")
      }
      asked.invalidate()
      #expect(context.invalidations == 1)
      context.isUsable = false
      var error: NSError?
      #expect(!asked.canEvaluatePolicy(.deviceOwnerAuthentication, error: &error))
      #expect((error as? LAError)?.code == .biometryNotEnrolled)
      #expect(LAError(_nsError: error!).code == .biometryNotEnrolled)
    }

    @Test("an LAError is recognized by each form of comparison that programs use")
    func errors() {
      let cases: [(LAError.Code, SignInProblem)] = [
        (.userCancel, .cancelled), (.userFallback, .fallback), (.biometryNotEnrolled, .notSetUp),
        (.biometryLockout, .locked), (.notInteractive, .other(-1004)),
      ]
      for (code, problem) in cases {
        let foreign = NSError(domain: LAErrorDomain, code: code.rawValue)
        for error: Error in [LAError(code), foreign, LAError(code) as NSError, LAError(_nsError: foreign)] {
          #expect(SignInProblem(error) == problem)
          #expect(SignInProblem(number: error) == problem)
          #expect((error as NSError).domain == kLAErrorDomain && (error as NSError).code == code.rawValue)
        }
        // As `CFError`s go through `Any`.
        let any = foreign as CFError? as Any
        #expect((any as? LAError)?.code == code)
      }
      #expect(SignInProblem(NSError(domain: NSOSStatusErrorDomain, code: -2)) == .other(-2))
      #expect(NSError(domain: NSOSStatusErrorDomain, code: -2) as Any as? LAError == nil)
    }

    @Test("biometryType can be switched over, and an LAContext keeps the reuse duration that is set")
    func names() {
      func name(_ context: LAContext) -> String {
        if #available(iOS 11.0, macOS 10.13.2, *) {
          switch context.biometryType {
          case .none: return "none"
          case .touchID: return "Touch ID"
          case .faceID: return "Face ID"
          case .opticID: return "Optic ID"
          @unknown default: return "?"
          }
        } else {
          return context.canEvaluatePolicy(.deviceOwnerAuthenticationWithBiometrics, error: nil) ? "Touch ID" : "none"
        }
      }
      #expect(name(LAContext()) == "none")
      #expect(name(StandInContext()) == "Face ID")
      let context = LAContext()
      context.touchIDAuthenticationAllowableReuseDuration = LATouchIDAuthenticationMaximumAllowableReuseDuration
      context.touchIDAuthenticationAllowableReuseDuration = 10
      #expect(context.touchIDAuthenticationAllowableReuseDuration == 10)
      #expect(LAPolicy(rawValue: 2) == .deviceOwnerAuthentication)
    }

    /// Builds a query that would ask a person, in both forms. It must compile; it is not run.
    @Test("an LAContext goes into a keychain query of any type of dictionary")
    func query() throws {
      let context = LAContext()
      context.localizedReason = "Access your password"
      context.interactionNotAllowed = true
      let strings: [String: Any] = [
        kSecClass as String: kSecClassGenericPassword, kSecUseAuthenticationContext as String: context,
        kSecUseAuthenticationUI as String: kSecUseAuthenticationUIAllow, kSecUseOperationPrompt as String: "why",
      ]
      var hashables: [String: AnyHashable] = [kSecClass as String: kSecClassGenericPassword]
      hashables[kSecUseAuthenticationContext as String] = context
      hashables[kSecAttrAccessControl as String] = SecAccessControlCreateWithFlags(
        kCFAllocatorDefault, kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .userPresence, nil)
      #expect((strings as CFDictionary)[kSecUseAuthenticationContext] as? LAContext === context)
      #expect((hashables as NSDictionary).object(forKey: kSecUseAuthenticationContext) as? LAContext === context)
      #expect(
        (hashables as NSDictionary)[kSecAttrAccessControl] as! SecAccessControl == hashables["accc"]
          as! SecAccessControl)
    }
  }
}
