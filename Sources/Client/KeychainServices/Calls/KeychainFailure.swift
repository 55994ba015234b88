// swift-format-ignore-file: AlwaysUseLowerCamelCase

// What every call of the keychain does: it blocks, asks in a context, and fails with a status.
//
// The names are Apple's.

internal import Foundation
internal import Keys
internal import Primitives
internal import SDBus
package import SecretModel
internal import Synchronization
package import Whorl

/// The failure of a call: its status, and a reason if there is one.
struct KeychainFailure: Error, Equatable {
  let status: OSStatus
  let why: String?
  /// The vault's error, if an authentication failed.
  private(set) var authentication: VaultError?

  init(_ status: OSStatus, _ why: String? = nil) {
    self.status = status
    self.why = why
  }

  init(_ error: VaultError) {
    let why: String? =
      switch error {
      case .invalidRequest(let why), .invalidName(let why), .invalidAccessControl(let why): why
      default: nil
      }
    self.init(error.status, why)
    if [errSecUserCanceled, errSecInteractionNotAllowed, errSecAuthFailed].contains(status) { authentication = error }
  }

  /// `errSecParam`
  static let parameter = KeychainFailure(errSecParam)

  /// The error that functions for keys report: for a failed authentication an `LAError`, else the status.
  var error: NSError {
    authentication?.authenticationError
      ?? NSError(status: status, why.map { "It failed: \($0)." } ?? words(for: status))
  }
}

extension VaultError {
  /// The status of a call.
  package var status: OSStatus { described.apple.status.rawValue }
}

/// Runs the body of a function that returns a status.
func status(_ body: () throws(KeychainFailure) -> Void) -> OSStatus {
  do throws(KeychainFailure) {
    try body()
    return errSecSuccess
  } catch {
    return error.status
  }
}

/// Runs the body of a function that returns a value or sets an error.
func value<Value>(
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?, _ body: () throws(KeychainFailure) -> Value
) -> Value? {
  do throws(KeychainFailure) {
    return try body()
  } catch let failure {
    error?.set(failure.error)
    return nil
  }
}

/// Calls the shared store and waits for it.
func call<Value: Sendable>(
  _ body: @escaping @Sendable (SecretStore) async throws(VaultError) -> Value
) throws(KeychainFailure) -> Value {
  do throws(VaultError) {
    let store = try SecretStore.shared()
    return try blocking { () async throws(VaultError) -> Value in try await body(store) }.get()
  } catch {
    throw KeychainFailure(error)
  }
}

/// Runs an asynchronous call and blocks the calling thread until it has ended, as Apple's calls do.
///
/// The calling thread itself does the work, and sends and receives the messages. So the call needs no change of
/// threads, and never waits for a thread of the cooperative pool, whose last thread the caller may be blocking.
package func blocking<Value: Sendable, Failure: Error>(
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) -> Result<Value, Failure> {
  let outcome = Outcome<Value, Failure>()
  WaitingThread.run {
    do throws(Failure) {
      outcome.set(.success(try await body()))
    } catch {
      outcome.set(.failure(error))
    }
  }
  return outcome.value
}

/// The result of a call, written before the waiting thread is resumed and read afterwards.
private final class Outcome<Value: Sendable, Failure: Error>: Sendable {
  private let result = Mutex<Result<Value, Failure>?>(nil)

  func set(_ value: Result<Value, Failure>) { result.withLock { $0 = value } }

  var value: Result<Value, Failure> {
    guard let value = result.withLock({ $0 }) else { preconditionFailure("the call has not ended") }
    return value
  }
}

extension AuthenticationCode {
  /// The domain of the codes.
  package static let domain = "com.apple.LocalAuthentication"

  /// The text of `localizedDescription`.
  package var words: String {
    switch self {
    case .authenticationFailed: "The fingerprint or the passcode was not the right one."
    case .userCancel: "Authentication was cancelled."
    case .userFallback: "The fallback was chosen."
    case .systemCancel: "Authentication was ended by the system."
    case .passcodeNotSet: "No passcode is set."
    case .biometryNotAvailable: "No fingerprint reader can be used."
    case .biometryNotEnrolled: "No fingers are enrolled."
    case .biometryLockout: "Too many touches matched no enrolled finger: the passcode is needed."
    case .appCancel: "Authentication was ended by the program."
    case .invalidContext: "The authentication context is no longer valid."
    case .companionNotAvailable: "No companion device can be used."
    case .biometryNotPaired: "No fingerprint reader is paired."
    case .biometryDisconnected: "The fingerprint reader was unplugged."
    case .invalidDimensions: "There is no room for the prompt."
    case .notInteractive: "Authentication would need the person, who may not be asked."
    }
  }
}

extension VaultError {
  /// The `NSError` for a failed authentication, with the vault's error under `NSUnderlyingErrorKey`.
  package var authenticationError: NSError {
    let code = described.apple.code
    return NSError(
      domain: AuthenticationCode.domain, code: code.rawValue,
      userInfo: [
        NSLocalizedDescriptionKey: authenticationWords ?? code.words, NSDebugDescriptionErrorKey: "\(self)",
        NSUnderlyingErrorKey: self,
      ])
  }

  /// The text for errors that are more specific than their code.
  private var authenticationWords: String? {
    func words(_ secrets: String, _ seconds: Int) -> String {
      "Too many wrong \(secrets): the next one is taken in \(seconds == 1 ? "1 second" : "\(seconds) seconds")."
    }
    return switch self {
    case .passcodeDelayed(let seconds): words("passcodes", seconds)
    case .applicationPasswordDelayed(let seconds): words("passwords", seconds)
    default: nil
    }
  }
}

/// The value of `kSecUseAuthenticationContext`: an `LAContext`, which is in a higher layer.
package protocol AuthenticationContextHolder: AnyObject {
  /// The context in the vault, made at the first call.
  func authenticationContext() throws(VaultError) -> AuthenticationContext
  /// The reason to show if the query has none.
  var keychainReason: String? { get }
}

// Conversions of secrets to and from the data of Apple's calls, which is not wiped.

extension SecretBytes {
  /// Copies the bytes of a client's data.
  init(_ data: Data) {
    self.init(count: data.count)
    // Both borrowed for the call.
    withUnsafeMutableBytes { room in data.withUnsafeBytes { room.copyMemory(from: $0) } }
  }

  /// A copy for a client.
  borrowing func data() -> NSData {
    // Copies the borrowed bytes.
    withUnsafeBytes { NSData(bytes: $0.baseAddress, length: $0.count) }
  }
}

/// A source of random numbers. There is only one, which nil means.
public final class SecRandomRef: Sendable {
  private init() {}
}

/// The only source of random numbers.
public let kSecRandomDefault: SecRandomRef? = nil

/// Fills `count` bytes with random bytes that can be used for keys.
///
/// - Returns: 0, or an error after which the bytes must not be used.
@discardableResult
public func SecRandomCopyBytes(_ rnd: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
  guard count >= 0 else { return errSecParam }
  do {
    // The caller lends `count` bytes.
    try Random.key(count).withUnsafeBytes {
      bytes.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(bytes), byteCount: count)
    }
    return errSecSuccess
  } catch {
    return errSecInternalError
  }
}
