internal import SDBus
internal import SecretModel
internal import SecureMemory

/// Items to be stored, and one file with all their secrets: two arguments. Each item has the place of its secret in the
/// file.
struct ItemsToAdd {
  let items: [ItemToAdd]

  init(_ items: [ItemToAdd]) { self.items = items }

  var busValues: [BusValue] {
    get throws(VaultError) {
      do throws(SealedFile.Failure) {
        var writer = try SealedFile.Writer()
        var entries: [BusValue] = []
        for entry in items {
          let place = try writer.append(entry.secret.bytes)
          entries.append(.structure([.bytes(entry.item.packed), place.offset.busValue, place.count.busValue]))
        }
        return [.array(of: "(ayxx)", entries), .descriptor(BusDescriptor(taking: try writer.seal().release()))]
      } catch {
        throw VaultError(error)
      }
    }
  }

  /// - Throws: `invalidRequest` for too many items; `secretTooLong` where their secrets are too long together.
  init(bus values: [BusValue]) throws(VaultError) {
    guard let entries = values[0].asArray else { throw .unreadable(Self.self) }
    guard entries.count <= ItemToAdd.limit else {
      throw .invalidRequest("at most \(ItemToAdd.limit) items are stored at a time")
    }
    let file: SealedFile
    do throws(SealedFile.Failure) {
      file = try SealedFile(values[1], limit: ItemToAdd.sizeLimit)
    } catch {
      throw VaultError(error)
    }
    var items: [ItemToAdd] = []
    // Refuse overlapping places: copying them would take more memory than the file, and the user's budget counts only
    // the file's size.
    var room = file.count
    for entry in entries {
      let item = try ItemToAdd(entry, in: file, upTo: room)
      room -= item.secret.bytes.count
      items.append(item)
    }
    self.items = items
  }
}

extension ItemToAdd {
  /// - Parameter room: the bytes of the file that the secrets of other items leave.
  fileprivate init(_ value: BusValue, in file: borrowing SealedFile, upTo room: Int) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 3, let packed = parts[0].asBytes else {
      throw .unreadable(Self.self)
    }
    let place = try SealedFile.Place(bus: parts[1], parts[2])
    guard place.count <= room else { throw .invalidRequest("the secrets overlap in the file that carries them") }
    let secret: SharedSecret
    do throws(SealedFile.Failure) {
      secret = SharedSecret(try file.secret(at: place))
    } catch {
      throw VaultError(error)
    }
    self.init(try NewItem(packed: packed), secret: secret)
  }
}

/// A new item as one array of bytes, for lists of them.
extension NewItem {
  private enum Field {
    static let itemClass: UInt8 = 3
    static let attributes: UInt8 = 4
    static let access: UInt8 = 5
    static let accessible: UInt8 = 6
  }

  fileprivate var packed: [UInt8] {
    var fields = PackedFields()
    fields.append(Field.itemClass, itemClass.rawValue.utf8)
    fields.append(Field.attributes, PackedAttributes.bytes(of: attributes))
    fields.append(Field.access, access.flags.rawValue)
    fields.append(Field.accessible, accessibility.rawValue.utf8)
    return fields.bytes
  }

  /// Refuses unknown fields, as every request does, and one that occurs twice.
  fileprivate init(packed bytes: [UInt8]) throws(VaultError) {
    var fields = PackedReader(bytes)
    var itemClass: ItemClass?
    var attributes: [AttributeName: AttributeValue]?
    var access: AccessControl?
    var accessible: Accessibility?
    while !fields.isAtEnd {
      let number = try fields.byte()
      let field = try fields.counted()
      switch number {
      case Field.itemClass where itemClass == nil: itemClass = try field.word()
      case Field.attributes where attributes == nil: attributes = try PackedAttributes.read(field)
      case Field.access where access == nil:
        access = try AccessControl(AccessControl.Flags(rawValue: try field.integer()))
      case Field.accessible where accessible == nil: accessible = try field.word()
      default: throw .unreadable(Self.self)
      }
    }
    guard let itemClass, let attributes, let access, let accessible else { throw .unreadable(Self.self) }
    self.init(itemClass, attributes, access: access, accessibility: accessible)
  }
}

extension RefusedItem: BusCodable {
  static var busSignature: String { "(x(sav))" }
  var busValue: BusValue { .structure([place.busValue, error.busValue]) }
  init(bus value: BusValue) throws(VaultError) {
    guard let parts = value.asStructure, parts.count == 2 else { throw .unreadable(Self.self) }
    self.init(place: try Int(bus: parts[0]), error: try VaultError(bus: parts[1]))
  }
}
