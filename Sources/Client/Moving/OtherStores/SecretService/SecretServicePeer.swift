internal import Primitives
internal import SecretModel

/// Another program that is the Secret Service: its contents, with the names that Whorl gives its collections.
struct SecretServicePeer: Sendable {
  let bus: SecretServiceBus
  let listing: SecretServiceListing
  /// The names that the collections of the listing have in Whorl.
  let names: [String]
  /// The names of the collections that stayed locked.
  let locked: Set<String>

  /// Opens the collections, and lists what is in them. Items that end with the session are left out.
  ///
  /// - Parameter address: of the session's bus.
  /// - Throws: `ownService` if Whorl is the service, and errors that end the reading.
  init(onBus address: String, opening: SecretServiceOpening = .byPrompt) async throws(ImportError) {
    bus = try await SecretServiceBus(address)
    guard await !bus.holder().isOwn else { throw .ownService }
    let passing = try await bus.collection(called: "session")
    let usual = try await bus.collection(called: "default")
    listing = try await SecretServiceListing(of: bus, opening: opening) { $0 != passing }
    // Give the default collection the name that Whorl uses, so that programs that look only there find their items
    // again.
    func name(_ path: String) -> String {
      path == usual ? SecretServiceFolder.usualCollection : Self.lastPart(of: path)
    }
    names = listing.collections.map { name($0.path) }
    locked = Set(listing.locked.map { name($0.path) })
  }

  private static func lastPart(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  enum Comparison {
    case same, other
    /// The program does not release the secret; the reason in words that follow "it".
    case notGiven(String)
  }

  /// Compares a released secret with the one that the program has at this place of the listing.
  func compare(_ released: ReleasedItem, with place: Int) async throws(ImportError) -> Comparison {
    do throws(ImportError) {
      let secret = try await listing.secret(of: listing.items[place])
      return secret.value.bytes.constantTimeEquals(released.secret) ? .same : .other
    } catch {
      guard case .unreadable(let why) = error else { throw error }
      return .notGiven(why)
    }
  }
}

extension ReleasesInChunks {
  /// The same for a body that uses another program and may throw its errors.
  func read(
    _ ids: [ItemID], using body: (Int, Result<ReleasedItem, VaultError>) async throws(ImportError) -> Void
  ) async throws {
    var ending: ImportError?
    do throws(VaultError) {
      try await read(ids) { place, released throws(VaultError) in
        do throws(ImportError) {
          try await body(place, released)
        } catch {
          // Ends the reading with the other program's error.
          ending = error
          throw .cancelled
        }
      }
    } catch {
      throw ending ?? error as any Error
    }
  }
}
