// Signatures of the public library; bodies follow from the vault's side.
import Fingerprint
@_exported public import SecureMemory
@_exported public import Vault
package import Keys

/// A store of secrets behind a finger.
public final class SecretStore: Sendable {
  /// The store this program finds as the command line does, opened at the first use.
  public static func shared() throws(VaultError) -> SecretStore { fatalError() }
  /// Uses another store as the shared one from now on: for programs that name their store, and for tests. Contexts of the earlier one end.
  public static func useAsShared(_ store: SecretStore?) { fatalError() }

  /// Opens a store. nil: as config.json or the default says.
  public static func open(at directory: String? = nil, reader: String? = nil, configuration: String? = nil) throws(VaultError) -> SecretStore { fatalError() }

  /// Makes a store, and gives the recovery key's text, shown once.
  public static func create(at directory: String, passcode: consuming SecretBytes?) async throws(VaultError) -> SecretBytes { fatalError() }

  /// How prompts of contexts without a prompt of their own are shown; the terminal unless set.
  public var defaultPrompt: any AuthenticationPrompt { get { fatalError() } set { fatalError() } }

  // Items. None of these but `secrets`, `update` of protected items and `useKey` ever prompts.

  /// duplicateItem where one with the same primary attributes lives.
  @discardableResult
  public func add(_ item: NewItem, secret: consuming SecretBytes, using context: AuthenticationContext? = nil) async throws(VaultError) -> Item { fatalError() }
  /// Oldest first.
  public func items(_ search: ItemSearch) async throws(VaultError) -> [Item] { fatalError() }
  /// One touch for all of them. The order of `ids`. A context that was satisfied before serves without a prompt, and is satisfied afterwards.
  public func secrets(of ids: [ItemID], reason: String? = nil, using context: AuthenticationContext? = nil) async throws(VaultError) -> [ReleasedSecret] { fatalError() }
  /// All or none. A protected item needs what reading it needs; `secret` replaces the secret of each.
  public func update(_ ids: [ItemID], _ change: ItemChange, secret: consuming SecretBytes? = nil, reason: String? = nil, using context: AuthenticationContext? = nil) async throws(VaultError) { fatalError() }
  public func delete(_ ids: [ItemID]) async throws(VaultError) { fatalError() }

  /// Whether reading the item in this context would ask for nothing.
  package func isSatisfied(_ item: Item, by context: AuthenticationContext?) async throws(VaultError) -> Bool { fatalError() }

  /// Uses a private key inside the vault, after what its access control asks for. The key itself stays there.
  package func useKey(_ id: ItemID, _ use: KeyUse, reason: String? = nil, using context: AuthenticationContext? = nil) async throws(VaultError) -> SecretBytes { fatalError() }

  // Authentication

  /// A context; invalidated when it is let go.
  public func makeContext(prompt: (any AuthenticationPrompt)? = nil) -> AuthenticationContext { fatalError() }

  /// Whether biometry could be used now: nil when it could, else why not (notEnrolled, biometryLockout, reader(.absent), passcodeNotSet is not one of them).
  public func biometryProblem() async -> VaultError? { fatalError() }
  /// Whether a reader is attached.
  public func hasReader() async -> Bool { fatalError() }
  public func passcodeIsSet() async throws(VaultError) -> Bool { fatalError() }
  /// What stands in for `evaluatedPolicyDomainState`: 32 bytes that stay the same until a finger is added, removed or replaced. nil: no fingers enrolled on this reader.
  public func enrolmentState() async throws(VaultError) -> [UInt8]? { fatalError() }

  // Choices of the program kept in the store (BiometricFeatureGate): generic-password items without constraint.
}

/// What is done with a private key inside the vault.
package enum KeyUse: Sendable {
  case sign([UInt8], scheme: String)        // -> signature bytes
  case decrypt([UInt8], scheme: String)
  case exchange(peer: [UInt8], scheme: String, requestedSize: Int, sharedInfo: [UInt8])
  /// The private key's external representation: refused (errSecParam-like, invalidRequest) where the control says privateKeyUsage
  case export
}

/// A released secret: it lives as long as this object and is zeroed with it.
public final class ReleasedSecret: Sendable {
  public let id: ItemID
  public let secret: SecretBytes
  init(id: ItemID, secret: consuming SecretBytes) { self.id = id; self.secret = secret }
}
