package import Keys
package import Primitives

/// The keys from which the key of a wrapping is derived, depending on the item's access control. The passcode is not
/// among them: see ``Wrapping/addPasscodeLayer(for:place:)``.
package struct WrappingParts: ~Copyable {
  private var parts = SecretConcatenation()

  package init(classKey: borrowing SecretBytes) {
    parts.append(tag: 1, classKey)
  }

  package mutating func add(setKey: borrowing SecretBytes) { parts.append(tag: 2, setKey) }
  package mutating func add(applicationPassword stretched: borrowing SecretBytes) { parts.append(tag: 3, stretched) }

  /// The wrapping key, bound to the item that the AAD describes.
  package func key(_ aad: [UInt8]) throws(KeysError) -> SecretBytes {
    try KDF.wrappingKey(from: parts, info: aad)
  }
}

/// An item's key, sealed for one alternative of its access control, with the public key of the passcode's layer.
package struct Wrapping {
  package var keys: Set<Requirement.Factor>
  /// Nil without the passcode's layer.
  var passcodeShare: [UInt8]?
  /// Empty if the wrapping can never be opened again, because its set or passcode is gone.
  package var box: [UInt8]

  package init(keys: Set<Requirement.Factor>, passcodeShare: [UInt8]? = nil, box: [UInt8]) {
    self.keys = keys
    self.passcodeShare = passcodeShare
    self.box = box
  }

  var isClosed: Bool { box.isEmpty }

  package static func encode(_ wrappings: [Wrapping]) -> [UInt8] {
    var list = CanonicalEncoding()
    for wrapping in wrappings {
      list.append(tag: 1, optional: wrapping.passcodeShare)
      list.append(tag: 2, wrapping.box)
    }
    return list.bytes
  }

  /// Decodes the wrappings of an access control, in its order; nil where their number is wrong.
  package static func decode(_ bytes: [UInt8], _ requirement: Requirement) -> [Wrapping]? {
    var list = CanonicalDecoder(bytes)
    do {
      let wrappings = try requirement.wrappings.map { keys in
        Wrapping(keys: keys, passcodeShare: try list.optionalBytes(1), box: try list.bytes(2))
      }
      return list.isAtEnd ? wrappings : nil
    } catch {
      return nil
    }
  }

  package static func closed(_ keys: Set<Requirement.Factor>) -> Wrapping { Wrapping(keys: keys, box: []) }

  /// The wrappings that can never be opened again.
  package static func closed(_ bytes: [UInt8]?, _ requirement: Requirement) -> Set<Set<Requirement.Factor>> {
    let wrappings = bytes.flatMap { decode($0, requirement) } ?? []
    return Set(wrappings.filter(\.isClosed).map(\.keys))
  }

  /// The AAD of a wrapping, which binds it to its item and its alternative.
  package static func aad(_ item: [UInt8], _ keys: Set<Requirement.Factor>) -> [UInt8] {
    var aad = CanonicalEncoding()
    aad.append(tag: 1, item)
    aad.append(tag: 2, UInt64((keys.contains(.boundFinger) ? 1 : 0) | (keys.contains(.passcode) ? 2 : 0)))
    return aad.bytes
  }
}
