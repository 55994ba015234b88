internal import Glibc
internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Secrets are never in a message itself, but in a sealed memory file whose descriptor the message carries.
extension SecretBytes {
  /// A memory file with this secret.
  borrowing func sealed() throws(VaultError) -> BusValue {
    do throws(SealedFile.Failure) {
      return .descriptor(BusDescriptor(taking: try SealedFile.make(of: self).release()))
    } catch {
      throw VaultError(error)
    }
  }

  /// The secret that fills a memory file.
  ///
  /// - Parameter limit: the most bytes that it may have.
  init(sealed value: BusValue, limit: Int) throws(VaultError) {
    do throws(SealedFile.Failure) {
      self = try SealedFile(value, limit: limit).secret()
    } catch {
      throw VaultError(error)
    }
  }
}

/// An optional secret as an argument (`ah`): one file or none.
extension SecretBytes {
  static func sealed(_ secret: borrowing SecretBytes?) throws(VaultError) -> BusValue {
    switch secret {
    case .some(let secret): .array(of: "h", [try secret.sealed()])
    case .none: .array(of: "h", [])
    }
  }

  static func optional(sealed value: BusValue, limit: Int) throws(VaultError) -> SecretBytes? {
    guard case .array("h", let files) = value, files.count <= 1 else { throw .unreadable("a secret") }
    guard let file = files.first else { return nil }
    return try SecretBytes(sealed: file, limit: limit)
  }
}

/// Released items, each with the place of its secret in one common file.
struct ReleasedItems {
  let items: [ReleasedItem]

  var busValues: [BusValue] {
    get throws(VaultError) {
      guard !items.isEmpty else { return [.array(of: "(ayxx)", []), .array(of: "h", [])] }
      do throws(SealedFile.Failure) {
        var writer = try SealedFile.Writer()
        var records: [BusValue] = []
        // The same object may occur again.
        var places: [ObjectIdentifier: SealedFile.Place] = [:]
        for item in items {
          let known = places[ObjectIdentifier(item)]
          let place = if let known { known } else { try writer.append(item.secret) }
          places[ObjectIdentifier(item)] = place
          records.append(.structure([item.item.busValue, place.offset.busValue, place.count.busValue]))
        }
        let file = BusDescriptor(taking: try writer.seal().release())
        return [.array(of: "(ayxx)", records), .array(of: "h", [.descriptor(file)])]
      } catch {
        throw VaultError(error)
      }
    }
  }

  init(_ items: [ReleasedItem]) { self.items = items }

  /// The values of an answer, if there is memory for it.
  ///
  /// - Throws: `busy` where there is not.
  func busValues(in unread: UnreadAnswer) throws(VaultError) -> [BusValue] {
    var seen: Set<ObjectIdentifier> = []
    let once = items.filter { seen.insert(ObjectIdentifier($0)).inserted }
    try unread.take(forSecrets: once.reduce(0) { $0 + $1.secret.count })
    return try busValues
  }

  init(bus values: [BusValue]) throws(VaultError) {
    guard let records = values[0].asArray, let files = values[1].asArray, files.count <= 1 else {
      throw .unreadable(Self.self)
    }
    guard let value = files.first else {
      guard records.isEmpty else { throw .unreadable(Self.self) }
      items = []
      return
    }
    let file: SealedFile
    do throws(SealedFile.Failure) {
      file = try SealedFile(value, limit: ReleasedItem.sizeLimit)
    } catch {
      throw VaultError(error)
    }
    var items: [ReleasedItem] = []
    for record in records { items.append(try ReleasedItem(record, in: file)) }
    self.items = items
  }
}

extension ReleasedItem {
  fileprivate convenience init(_ value: BusValue, in file: borrowing SealedFile) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 3 else { throw .unreadable(Self.self) }
    let place = try SealedFile.Place(bus: parts[1], parts[2])
    let secret: SecretBytes
    do throws(SealedFile.Failure) {
      secret = try file.secret(at: place)
    } catch {
      throw VaultError(error)
    }
    self.init(try Item(bus: parts[0]), secret: secret)
  }
}

extension SealedFile.Place {
  /// Two arguments: the offset and the length.
  init(bus offset: BusValue, _ count: BusValue) throws(VaultError) {
    self.init(offset: try Int(bus: offset, in: 0...Self.limit), count: try Int(bus: count, in: 0...Self.limit))
  }

  /// No file is longer.
  private static let limit = Int(Int32.max)
}

extension SealedFile {
  /// - Parameter limit: the most bytes that the file may have.
  init(_ value: BusValue, limit: Int) throws(Failure) {
    // If the descriptor cannot be duplicated, -1 is passed on and refused as no sealed file.
    try self.init(received: value.asDescriptor.map { fcntl($0.rawValue, F_DUPFD_CLOEXEC, 3) } ?? -1, limit: limit)
  }
}

extension VaultError {
  init(_ failure: SealedFile.Failure) {
    self =
      switch failure {
      case .system(let code): .inputOutput("the file that carries a secret: \(String(cString: strerror(code)))")
      case .unsealed: .invalidRequest("the file that carries a secret is not sealed")
      case .tooLong(let limit): .secretTooLong(limit: limit)
      case .outside: .invalidRequest("a secret lies outside of the file that carries it")
      }
  }
}
