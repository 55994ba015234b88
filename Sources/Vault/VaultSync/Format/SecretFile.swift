import Keys
package import Primitives
package import SecretModel
package import VaultStore

/// What opens the secret of a shared item on each machine, as it does for an item that is not shared: the key of its
/// class and, if its rule wraps it with the passcode, the passcode too.
package struct SecretLock: Sendable, Hashable {
  package let accessibility: Accessibility
  package let needsPasscode: Bool

  package init(_ item: NewItem) {
    accessibility = item.accessibility
    needsPasscode = Requirement(item.access).wrappings.allSatisfy { $0.contains(.passcode) }
  }
}

/// The private keys that open secrets of shared items, as far as they are open now.
package struct SecretKeys: Sendable {
  /// What keeps a key closed.
  package enum Closed: Error, Sendable {
    /// Its class.
    case byClass
    /// The passcode has to be given.
    case byPasscode
    /// This machine has no passcode, so it has no such key.
    case withoutPasscode
  }

  private let classes: [Accessibility: EncryptedFile.KeyPair]
  /// The classes that this machine has a key for, open or not.
  private let known: Set<Accessibility>
  private let passcode: EncryptedFile.KeyPair?
  private let hasPasscode: Bool

  /// A recovery key, which opens every layer.
  package init(recovery pair: EncryptedFile.KeyPair) {
    classes = Dictionary(uniqueKeysWithValues: Accessibility.allCases.map { ($0, pair) })
    (known, passcode, hasPasscode) = (Set(Accessibility.allCases), pair, true)
  }

  /// Open keys of a machine.
  package init(classes: [Accessibility: EncryptedFile.KeyPair], passcode: EncryptedFile.KeyPair) {
    (self.classes, known, self.passcode, hasPasscode) = (classes, Set(classes.keys), passcode, true)
  }

  /// The keys of this machine.
  ///
  /// - Parameter passcodeKey: the key of a passcode that was just given; nil if none was.
  package init(of snapshot: StoreSnapshot, passcodeKey: SharedSecret? = nil) throws {
    var (classes, known) = ([Accessibility: EncryptedFile.KeyPair](), Set<Accessibility>())
    for accessibility in Accessibility.allCases {
      do {
        guard let key = try snapshot.circleClassKey(accessibility) else { continue }
        classes[accessibility] = try EncryptedFile.KeyPair(privateKey: SharedSecret(key))
      } catch VaultError.notUnlocked {}
      known.insert(accessibility)
    }
    (self.classes, self.known) = (classes, known)
    hasPasscode = try snapshot.hasCirclePasscodeKey()
    passcode =
      if let passcodeKey, let key = try snapshot.circlePasscodeKey(with: passcodeKey.bytes) {
        try EncryptedFile.KeyPair(privateKey: SharedSecret(key))
      } else {
        nil
      }
  }

  /// The public keys of the classes that are open.
  var publicKeys: [Accessibility: AgePublicKey] { classes.mapValues(\.publicKey) }

  func pair(of accessibility: Accessibility) throws(Closed) -> EncryptedFile.KeyPair {
    guard let pair = classes[accessibility] else {
      throw known.contains(accessibility) ? .byClass : .withoutPasscode
    }
    return pair
  }

  var passcodePair: EncryptedFile.KeyPair {
    get throws(Closed) {
      guard let passcode else { throw hasPasscode ? .byPasscode : .withoutPasscode }
      return passcode
    }
  }
}

/// The secret of a version with 32 random bytes before it. A digest over both is signed in the version's first line, so
/// that the signature shows nothing about the secret.
package struct HiddenSecret: Sendable {
  private static let noiseCount = 32

  private let bytes: SharedSecret

  package init(_ secret: borrowing SecretBytes) throws(VaultError) {
    let noise = try Self.noise()
    var bytes = SecretBytes(count: Self.noiseCount + secret.count)
    bytes.withUnsafeMutableBytes { target in
      noise.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: target[..<Self.noiseCount]).copyMemory(from: $0) }
      secret.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: target[Self.noiseCount...]).copyMemory(from: $0)
      }
    }
    self.bytes = SharedSecret(bytes)
  }

  private static func noise() throws(VaultError) -> SecretBytes {
    do throws(KeysError) { return try Random.key(noiseCount) } catch { throw VaultError(cause: error) }
  }

  private init(bytes: consuming SecretBytes) throws(VaultError) {
    guard bytes.count >= Self.noiseCount else { throw .fileUnreadable("its secret was cut off") }
    self.bytes = SharedSecret(bytes)
  }

  package var secret: SharedSecret {
    bytes.bytes.withUnsafeBytes { (bytes) -> SharedSecret in
      let secret = SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[Self.noiseCount...]))
      return SharedSecret(secret)
    }
  }

  /// Binds the signature of a version to its secret.
  package var commitment: [UInt8] { Digest.sha256(secret: bytes.bytes).withUnsafeBytes { Array($0) } }

  // MARK: Encryption

  /// The file, encrypted to the keys that these machines have for such secrets, and to their recovery keys. Under the
  /// passcode it has two layers, so that the class and the passcode are needed.
  package func file(under lock: SecretLock, for members: [Member], epoch: Int) throws(VaultError) -> [UInt8] {
    var file = bytes
    if lock.needsPasscode {
      let inner = try AgeMessage.seal(file.bytes, to: members.passcodeRecipients, epoch: epoch)
      file = SharedSecret(SecretBytes(copying: inner.span))
    }
    return try AgeMessage.seal(file.bytes, to: members.recipients(of: lock.accessibility), epoch: epoch)
  }

  /// Decrypts a file.
  package init(
    _ file: [UInt8], under lock: SecretLock, commitment: [UInt8], with keys: SecretKeys
  ) throws(SecretObstacle) {
    do {
      let classPair = try keys.pair(of: lock.accessibility)
      let passcodePair = lock.needsPasscode ? try keys.passcodePair : nil
      var contents = try AgeMessage.open(file, with: classPair)
      if let passcodePair {
        contents = try AgeMessage.open(contents.withUnsafeBytes { Array($0) }, with: passcodePair)
      }
      try self.init(bytes: contents)
    } catch let closed as SecretKeys.Closed {
      throw .closed(closed)
    } catch {
      throw .unreadable
    }
    guard self.commitment == commitment else { throw .unreadable }
  }
}

/// Why the secret of a version cannot be opened.
package enum SecretObstacle: Error, Sendable {
  case closed(SecretKeys.Closed)
  /// It is not encrypted to this machine's keys, or is not the secret that was signed.
  case unreadable

  /// What it waits for.
  package var reason: SyncStatus.Waiting.Reason {
    switch self {
    case .closed(.byClass): .locked
    case .closed(.byPasscode): .proof
    case .closed(.withoutPasscode): .passcode
    case .unreadable: .recipients
    }
  }
}
