package import SecretModel
package import SecureMemory

/// Secrets of another program, to be imported into a store.
package protocol ImportSource: Sendable {
  /// The entries that can be imported, in the source's own order.
  var entries: [ImportEntry] { get }
  /// The entries that cannot be imported.
  var unusable: [UnusableEntry] { get }
  /// Fields that are left out of all entries, in words that follow "left out". They are not secret.
  var leftOut: [String] { get }
  /// The items that an entry becomes. The first has the entry's name and attributes; further secrets of the entry
  /// follow as separate items.
  ///
  /// - Throws: `unreadable` if other entries may still be readable, else an error that ends the import.
  func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem]
}

extension ImportSource {
  package var leftOut: [String] { [] }
}

/// What is known about an entry of a source before its secrets are read.
package struct ImportEntry: Sendable, Hashable {
  /// Its position in the source, from 0 on.
  package let place: Int
  /// What its item will be called.
  package let name: ItemName

  package init(place: Int, name: ItemName) {
    self.place = place
    self.name = name
  }
}

/// An item that an entry becomes.
package final class ImportedItem: Sendable {
  package let name: ItemName
  /// Attributes in addition to those that follow from the name.
  package let attributes: [AttributeName: AttributeValue]
  package let secret: SecretBytes

  package init(
    _ name: ItemName, _ attributes: [AttributeName: AttributeValue] = [:], secret: consuming SecretBytes
  ) {
    self.name = name
    self.attributes = attributes
    self.secret = secret
  }
}

/// An entry that is not imported.
package struct UnusableEntry: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// The reason why the entry itself cannot be imported, in words that follow "it".
    case source(String)
    /// A field has an implausible value: the field's name, and the reason in words that follow it. Never the value.
    case field(String, String)
    /// The store does not take it.
    case refused(VaultError)
  }

  /// Its name or position in the source.
  package let called: String
  package let reason: Reason

  package init(_ called: String, _ reason: Reason) {
    self.called = called
    self.reason = reason
  }
}

/// Why a source cannot be read. No case carries a secret.
package enum ImportError: Error, Sendable, Hashable {
  /// There is nothing at this path.
  case missing(String)
  /// The input does not have the expected format; the value says where and why.
  case malformed(String)
  /// The program or service that reads the source is not available; the value says which and why.
  case unavailable(String)
  /// One entry cannot be read; the value says why, in words that follow "it". The others may be readable.
  case unreadable(String)
  /// The person dismissed a prompt of the other program; the value names what it was for.
  case declined(String)
  /// The source is this store itself.
  case ownService
  /// The system refused to read; the value says what.
  case system(String)
}
