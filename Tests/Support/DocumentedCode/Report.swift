import Foundation
import LocalAuthentication

/// Counts the steps and prints one line for each.
final class Report: @unchecked Sendable {
  static let shared = Report()

  private let lock = NSLock()
  private var passed = 0
  private var failed = 0

  func record(_ name: String, _ success: Bool, _ what: String) {
    lock.withLock {
      if success { passed += 1 } else { failed += 1 }
      print(success ? "PASS \(name)" : "FAIL \(name): \(what)")
    }
  }

  func finish() -> Int32 {
    lock.withLock {
      print("\(passed) passed, \(failed) failed")
      return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE
    }
  }
}

/// A value that a completion handler leaves for the task that waits for it.
final class Box<Value: Sendable>: @unchecked Sendable {
  private let lock = NSLock()
  private var stored: Value?

  var value: Value? { lock.withLock { stored } }
  func put(_ value: Value) { lock.withLock { stored = value } }

  func wait(seconds: Double) async -> Value? {
    let deadline = Date().addingTimeInterval(seconds)
    while value == nil, Date() < deadline {
      try? await Task.sleep(nanoseconds: 10_000_000)
    }
    return value
  }
}

func check(_ name: String, _ condition: Bool, _ what: @autoclosure () -> String = "not as documented") {
  Report.shared.record(name, condition, condition ? "" : what())
}

@discardableResult
func succeeds<T>(_ name: String, _ body: () async throws -> T) async -> T? {
  do {
    let result = try await body()
    check(name, true)
    return result
  } catch {
    check(name, false, describe(error))
    return nil
  }
}

func fails<T>(_ name: String, with code: LAError.Code? = nil, _ body: () async throws -> T) async {
  do {
    _ = try await body()
    check(name, false, "no error was thrown")
  } catch let error as LAError {
    check(name, code == nil || error.code == code, describe(error))
  } catch {
    check(name, code == nil, "not an LAError: \(error)")
  }
}

func describe(_ error: any Error) -> String {
  guard let error = error as? LAError else { return "\(error)" }
  switch error.code {
  case .authenticationFailed: return "the user failed to provide valid credentials"
  case .userCancel: return "the user tapped the cancel button"
  case .userFallback: return "the user tapped the fallback button"
  case .systemCancel: return "the system canceled authentication"
  case .appCancel: return "the app canceled authentication"
  case .invalidContext: return "the context was previously invalidated"
  case .notInteractive: return "displaying the user interface is forbidden"
  case .passcodeNotSet: return "a passcode isn't set"
  case .biometryNotAvailable: return "biometry is not available"
  case .biometryNotEnrolled: return "no enrolled biometric identities"
  case .biometryLockout: return "biometry is locked"
  default: return "LAError \(error.code.rawValue): \(error.localizedDescription)"
  }
}
