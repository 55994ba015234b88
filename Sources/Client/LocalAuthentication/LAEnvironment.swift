internal import Dispatch
public import KeychainServices
internal import Primitives
internal import SecretModel
internal import Synchronization
internal import Whorl

/// What a person can authenticate with on this machine (LAEnvironment.h, macOS 15).
public final class LAEnvironment: NSObject, Sendable {
  /// Receives the changes of an environment.
  public protocol Observer: NSObjectProtocol {
    /// Called on a queue of the module's own, after ``LAEnvironment/state`` has changed. Optional.
    func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State)
  }

  /// The mechanisms at one moment (LAEnvironmentState.h, macOS 15).
  public final class State: NSObject, NSCopying, Sendable {
    /// The fingers; nil without a reader.
    public let biometry: MechanismBiometry?
    /// The passcode; nil without a store.
    public let userPassword: MechanismUserPassword?
    /// Always empty.
    public var companions: [MechanismCompanion] { [] }
    /// All of them.
    public var allMechanisms: [Mechanism] { [biometry, userPassword].compactMap { $0 } }

    init(_ known: Biometry?) {
      guard let known else {
        biometry = nil
        userPassword = nil
        return
      }
      biometry =
        known.hasReader
        ? MechanismBiometry(
          isUsable: known.problem == nil, isLockedOut: known.problem == .biometryLockout,
          stateHash: Data(known.state ?? []), builtInSensorInaccessible: known.isOutOfReach) : nil
      userPassword = MechanismUserPassword(isSet: known.passcodeSet)
    }

    /// Returns itself, since a state never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both have the same values.
    public override func isEqual(_ object: Any?) -> Bool {
      (object as? State).map { $0.allMechanisms == allMechanisms } ?? false
    }

    /// The same for equal states.
    public override var hash: Int { allMechanisms.hashValue }
  }

  private struct Watched {
    var last: State?
    var observers: [WeakObserver] = []
    var listening: StoreChanges.Listening?
  }

  private static let ofCurrentUser = LAEnvironment()
  private let watched = Mutex(Watched())
  private let queue = DispatchQueue(label: "whorl.LAEnvironment")

  private override init() {}

  /// The environment of the user that runs the program.
  public class var currentUser: LAEnvironment { ofCurrentUser }

  /// The mechanisms now. Queries the vault, which takes a moment, without a prompt.
  public var state: State {
    listen()
    return look()
  }

  private func look() -> State {
    let known: Result<Biometry, VaultError> = blocking { () async throws(VaultError) in
      try await SecretStore.shared().biometry()
    }
    return note(State(try? known.get()))
  }

  /// Calls an observer for each change from now on. The observer is not retained.
  ///
  /// The vault reports these changes at once: of fingers, lockout and passcode, of readers that are plugged in or
  /// pulled out, of the lid (where logind signals it: systemd 256 and later), and of the session. Changes made
  /// elsewhere, such as a finger that another program enrols in fprintd or in a private store, are noticed when the
  /// program reads ``state``, and when one of its evaluations ends.
  public func addObserver(_ observer: any Observer) {
    _ = state
    watched.withLock { $0.observers.append(WeakObserver(observer)) }
    listen()
  }

  /// Stops calling an observer.
  public func removeObserver(_ observer: any Observer) {
    watched.withLock { watched in watched.observers.removeAll { $0.observer === observer } }
    stopListening()
  }

  /// Checks whether something has changed, if there is an observer.
  func refresh() {
    guard watched.withLock({ $0.observers.contains { $0.observer != nil } }) else { return stopListening() }
    queue.async { _ = self.look() }
  }

  private func note(_ state: State) -> State {
    let (old, observers) = watched.withLock { watched -> (State?, [WeakObserver]) in
      let old = watched.last
      watched.last = state
      watched.observers.removeAll { $0.observer == nil }
      return (old, watched.observers)
    }
    guard let old, old != state else { return state }
    queue.async {
      for observer in observers { observer.observer?.environment(self, stateDidChangeFromOldState: old) }
    }
    return state
  }

  /// Stops listening, if there is no observer.
  private func stopListening() {
    watched.withLock { watched in
      if watched.observers.allSatisfy({ $0.observer == nil }) { watched.listening = nil }
    }
  }

  /// Listens to the vault's signals, if there is an observer.
  private func listen() {
    watched.withLock { watched in
      guard !watched.observers.isEmpty else { return }
      watched.listening = try? SecretStore.shared().changes.listen { [weak self] in self?.refresh() }
    }
  }
}

extension LAEnvironment {
  /// A way to authenticate (LAEnvironmentMechanism.h, macOS 15).
  open class Mechanism: NSObject, @unchecked Sendable {
    // Unchecked: it may be subclassed. Its own values never change.

    /// Whether it could be used now, as ``LAContext/canEvaluatePolicy(_:error:)`` would say.
    public let isUsable: Bool
    /// Its name, in English.
    public let localizedName: String
    /// The name of its symbol on Apple's systems. Linux has no such symbols.
    public let iconSystemName: String

    init(isUsable: Bool, localizedName: String, iconSystemName: String) {
      self.isUsable = isUsable
      self.localizedName = localizedName
      self.iconSystemName = iconSystemName
    }

    /// Whether both have the same values.
    open override func isEqual(_ object: Any?) -> Bool {
      guard let other = object as? Mechanism else { return false }
      return facts == other.facts
    }

    /// The same for equal mechanisms.
    open override var hash: Int { facts.hashValue }

    /// The values that are compared.
    var facts: [AnyHashable] { [isUsable, localizedName] }
  }

  /// Fingers (LAEnvironmentMechanismBiometry.h, macOS 15).
  public final class MechanismBiometry: Mechanism, @unchecked Sendable {
    /// The kind of the attached reader.
    public let biometryType: LABiometryType
    /// Whether a finger is enrolled on it.
    public let isEnrolled: Bool
    /// Whether five touches in a row did not match, so that the passcode is needed.
    public let isLockedOut: Bool
    /// Like ``LADomainStateBiometry/stateHash``; empty if no finger is enrolled.
    public let stateHash: Data
    /// Whether the reader is out of reach, so that no evaluation can ask for a finger: the lid is closed over the only
    /// reader, or the program runs in a remote session.
    ///
    /// Apple's header only names the closed lid, as an example. A reader counts as built in if the firmware says that
    /// its port is fixed; fprintd does not say which of its readers are, so these count as accessible. A private store
    /// knows neither lid nor session: there this is false.
    public let builtInSensorInaccessible: Bool

    init(isUsable: Bool, isLockedOut: Bool, stateHash: Data, builtInSensorInaccessible: Bool) {
      biometryType = .touchID
      isEnrolled = !stateHash.isEmpty
      self.isLockedOut = isLockedOut
      self.stateHash = stateHash
      self.builtInSensorInaccessible = builtInSensorInaccessible
      super.init(isUsable: isUsable, localizedName: "Fingerprint", iconSystemName: "touchid")
    }

    override var facts: [AnyHashable] { super.facts + [isLockedOut, stateHash, builtInSensorInaccessible] }
  }

  /// The passcode (LAEnvironmentMechanismUserPassword.h, macOS 15).
  public final class MechanismUserPassword: Mechanism, @unchecked Sendable {
    /// Whether the store has a passcode.
    public let isSet: Bool

    init(isSet: Bool) {
      self.isSet = isSet
      super.init(isUsable: isSet, localizedName: "Passcode", iconSystemName: "lock")
    }
  }

  /// A watch or another companion, which Linux does not have (LAEnvironmentMechanismCompanion.h, macOS 15).
  public final class MechanismCompanion: Mechanism, @unchecked Sendable {
    /// The kind of companion.
    public let type: LACompanionType
    /// Always nil.
    public var stateHash: Data? { nil }

    private init(type: LACompanionType) {
      self.type = type
      super.init(isUsable: false, localizedName: "", iconSystemName: "")
    }
  }
}

extension LAEnvironment.Observer {
  /// Does nothing.
  public func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {}
}

/// A weak reference to an observer.
private struct WeakObserver: @unchecked Sendable {
  // Unchecked: the observer is only called, on the queue of the environment.
  weak var observer: (any LAEnvironment.Observer)?

  init(_ observer: any LAEnvironment.Observer) { self.observer = observer }
}
