internal import Primitives
public import SecretModel

/// Unlocks a feature of a program with a finger, if the person has chosen this.
///
/// ```swift
/// let gate = BiometricFeatureGate(feature: "com.example.notes.export", store: try SecretStore.shared())
/// if await gate.isEnabled() {
///   try await gate.authenticate(reason: "export your notes")
///   export()
/// } else {
///   askForThePassword()  // not enabled is never a way in
/// }
/// ```
///
/// The choice is an item of the store, bound to the fingers that were enrolled when it was made;
/// ``authenticate(reason:using:)`` has the store release that item. It fails closed: **a choice that is missing,
/// unreadable or made for other fingers means "not enabled"**, and a gate that is not enabled lets nobody in. A feature
/// therefore needs another way in (a password, a sign-in) for that case.
///
/// What this protects against, and what not:
///
/// - A new finger does not open features that were enabled before: when the fingers change, the choice is void and must
///   be made again.
/// - Any program of the user can delete the choice (deleting an item never asks). The feature then requires its other
///   way in. Never treat "not enabled" as "open".
/// - Another program of the same user can store a choice (adding an item never asks). Only an enrolled finger passes
///   it.
/// - A gate only answers yes or no, and protects no data. Keep the feature's data in an item of its own, under an
///   ``AccessControl``.
public struct BiometricFeatureGate: Sendable {
  /// The name of the feature. The choice is kept in the program's own access group (``AccessGroup/own``).
  public let feature: String
  private let store: SecretStore

  /// The service attribute of the choices; the account attribute is the feature.
  private static let service = "whorl.feature-gate"

  /// The gate of a feature. Reads nothing yet.
  public init(feature: String, store: SecretStore) {
    self.feature = feature
    self.store = store
  }

  /// Whether a finger can be asked for now.
  public enum Availability: Sendable, Hashable {
    /// A reader is there, fingers are enrolled on it, and biometry is not locked out.
    case available
    /// Why not: `notEnrolled`, `biometryLockout`, what is wrong with the reader, or with the store.
    case unavailable(VaultError)
  }

  /// Whether a finger can be asked for now, and why not. Asks for nothing.
  public func availability() async -> Availability {
    await store.biometryProblem().map { .unavailable($0) } ?? .available
  }

  /// Whether the person has chosen a finger for this feature, with the fingers that are enrolled now. Asks for nothing.
  /// False where the store cannot be read.
  public func isEnabled() async -> Bool {
    guard let choices = try? await choices() else { return false }
    return choices.contains(where: Self.counts)
  }

  /// Turns the gate on, after a finger: from now on the currently enrolled fingers open the feature.
  ///
  /// - Parameters:
  ///   - reason: why a finger is wanted, in words for the person.
  ///   - context: nil for one of its own, which asks in any case. One that was satisfied before asks for nothing.
  /// - Throws: `refused` with the error of evaluating ``AuthenticationPolicy/biometrics``, with `setChanged` where the
  ///   fingers changed meanwhile, or with the error of storing the choice.
  public func enable(reason: String, using context: AuthenticationContext? = nil)
    async throws(BiometricFeatureGateError)
  {
    do throws(VaultError) {
      let fingers = try await store.enrolmentState()
      try await (context ?? store.makeContext()).evaluate(.biometrics, reason: reason)
      // An earlier choice may be damaged, or stored by another program.
      try await store.delete(choices().map(\.id))
      let choice = NewItem(.genericPassword, attributes, access: try AccessControl(.biometryCurrentSet))
      let stored = try await store.add(choice, secret: SecretBytes(copying: Array("enabled".utf8).span))
      // The choice is bound to the current set. That must be the set to which the touched finger belongs.
      guard try await store.enrolmentState() == fingers else {
        try await store.delete([stored.id])
        throw .setChanged
      }
    } catch {
      throw .refused(error)
    }
  }

  /// Turns the gate off, after a finger or the passcode in its place, so that a broken reader does not prevent it. Asks
  /// for nothing where no choice is stored.
  ///
  /// - Throws: `refused` with the error of evaluating ``AuthenticationPolicy/deviceOwner`` (or
  ///   ``AuthenticationPolicy/biometrics`` in a store without a passcode). The gate is unchanged then.
  public func disable(reason: String, using context: AuthenticationContext? = nil)
    async throws(BiometricFeatureGateError)
  {
    do throws(VaultError) {
      guard try await !choices().isEmpty else { return }
      let policy: AuthenticationPolicy = try await store.passcodeIsSet() ? .deviceOwner : .biometrics
      try await (context ?? store.makeContext()).evaluate(policy, reason: reason)
      try await store.delete(choices().map(\.id))
    } catch {
      throw .refused(error)
    }
  }

  /// Lets the person through to the feature, after a finger of the set that the gate was enabled with. If it returns,
  /// the person may pass; otherwise it throws.
  ///
  /// - Parameters:
  ///   - reason: what the feature is about to do, in words for the person.
  ///   - context: nil for one of its own, which asks in any case. One that was satisfied before asks for nothing.
  /// - Throws: `notEnabled`, before anything is asked; `refused` with the error of reading an item of
  ///   `.biometryCurrentSet`: `authenticationFailed`, `cancelled`, `biometryLockout`, a reader's error and so on.
  public func authenticate(reason: String, using context: AuthenticationContext? = nil)
    async throws(BiometricFeatureGateError)
  {
    do throws(VaultError) {
      guard let choice = try await choices().first(where: Self.counts) else { throw .itemGone }
      _ = try await store.secrets(of: [choice.id], reason: reason, using: context)
    } catch .itemGone, .itemInvalidated, .itemDamaged {
      throw .notEnabled
    } catch {
      throw .refused(error)
    }
  }

  private var attributes: [AttributeName: AttributeValue] {
    [.service: .text(Self.service), .account: .text(feature), .label: .text("Fingers open \(feature)")]
  }

  /// The items stored under the choice's name, valid or not.
  private func choices() async throws(VaultError) -> [Item] {
    var names = attributes
    names[.label] = nil
    return try await store.items(ItemSearch(.genericPassword, names, synchronizable: .any).forChanging)
  }

  /// Whether an item is a valid choice. An item that requires less than a current finger would let anybody through.
  private static func counts(_ item: Item) -> Bool { item.access.flags == .biometryCurrentSet }
}

/// Why a ``BiometricFeatureGate`` did not do what it was asked to do.
public enum BiometricFeatureGateError: Error, Sendable, Hashable {
  /// The feature has no choice for the fingers enrolled now: use the feature's other way in.
  case notEnabled
  /// The person was not let through, or the store failed; the error says why.
  case refused(VaultError)
}
