public import SecretModel
internal import SecureMemory

/// A person's choice to open one feature of a program with a finger, and the way through it.
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
/// The choice is an item of the store, bound to the fingers enrolled when it was made; whoever passes
/// ``authenticate(reason:using:)`` has had that item released. It fails closed: **a choice that is missing, unreadable or
/// made for other fingers means "not enabled"**, and what is not enabled lets nobody in. A feature therefore needs
/// another way of its own (a password, a sign-in), and takes it then.
///
/// What that holds against, and what not:
///
/// - Whoever adds a finger does not inherit what was enabled before: the choice ends with the set, and has to be made again.
/// - Whoever deletes the choice (deleting an item never asks) sends the feature back to its other way, no further. A
///   feature that took "not enabled" for "open" would be opened by that.
/// - Another program of the same user may store a choice, as adding an item never asks either. Only an enrolled finger
///   gets through it.
/// - A gate answers whether, and protects no data. What the feature works on belongs into an item of its own, under an
///   ``AccessControl``.
public struct BiometricFeatureGate: Sendable {
  /// Which feature. The choice is kept in the program's own access group (``AccessGroup/own``).
  public let feature: String
  private let store: SecretStore

  /// What the choices are stored under; the account is the feature.
  private static let service = "whorl.feature-gate"

  /// The gate of a feature. Nothing is looked up yet.
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

  /// Whether the person has chosen a finger for this feature, with the fingers that are enrolled now. Asks for nothing;
  /// false wherever that cannot be told.
  public func isEnabled() async -> Bool {
    guard let choices = try? await choices() else { return false }
    return choices.contains(where: Self.counts)
  }

  /// Turns the gate on, after a finger: from now on the fingers enrolled at this moment open the feature.
  ///
  /// - Parameters:
  ///   - reason: why a finger is wanted, in words for the person.
  ///   - context: nil for one of its own, which asks in any case. One that was satisfied before asks for nothing.
  /// - Throws: `refused` with what the evaluation of ``AuthenticationPolicy/biometrics`` ended with, with `setChanged` where
  ///   the fingers changed in between, or with what keeps the store from keeping the choice.
  public func enable(reason: String, using context: AuthenticationContext? = nil)
    async throws(BiometricFeatureGateError)
  {
    do throws(VaultError) {
      let fingers = try await store.enrolmentState()
      try await (context ?? store.makeContext()).evaluate(.biometrics, reason: reason)
      // An earlier choice may be damaged, or another program's idea of one.
      try await store.delete(choices().map(\.id))
      let choice = NewItem(.genericPassword, attributes, access: try AccessControl(.biometryCurrentSet))
      let stored = try await store.add(choice, secret: SecretBytes(copying: Array("enabled".utf8).span))
      // The choice is bound to the set there is now, which has to be the one whose finger was shown.
      guard try await store.enrolmentState() == fingers else {
        try await store.delete([stored.id])
        throw .setChanged
      }
    } catch {
      throw .refused(error)
    }
  }

  /// Turns the gate off, after a finger or the passcode in its place, so that a reader that broke is no trap. Where no
  /// choice is stored nothing is asked, as there is nothing to turn off.
  ///
  /// - Throws: `refused` with what the evaluation of ``AuthenticationPolicy/deviceOwner`` ended with (of
  ///   ``AuthenticationPolicy/biometrics`` in a store without a passcode); the gate is as it was then.
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

  /// Lets the person through to the feature, after a finger of the set the gate was enabled with. Returning is the only
  /// success.
  ///
  /// - Parameters:
  ///   - reason: what the feature is about to do, in words for the person.
  ///   - context: nil for one of its own, which asks in any case. One that was satisfied before asks for nothing.
  /// - Throws: `notEnabled`, before anything is asked; `refused` with what reading an item of `.biometryCurrentSet` may end
  ///   with: `authenticationFailed`, `cancelled`, `biometryLockout`, a reader's error and so on.
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

  /// What is stored in a choice's place, whatever it is.
  private func choices() async throws(VaultError) -> [Item] {
    var names = attributes
    names[.label] = nil
    return try await store.items(ItemSearch(.genericPassword, names, synchronizable: .any).forChanging)
  }

  /// Whether an item is a choice: one whose release asks for less would let anybody through.
  private static func counts(_ item: Item) -> Bool { item.access.flags == .biometryCurrentSet }
}

/// Why a ``BiometricFeatureGate`` did not do what it was asked to do.
public enum BiometricFeatureGateError: Error, Sendable, Hashable {
  /// The feature has no choice that holds for the fingers enrolled now: take the feature's other way.
  case notEnabled
  /// The person was not let through, or the store could not do it; the error says what happened.
  case refused(VaultError)
}
