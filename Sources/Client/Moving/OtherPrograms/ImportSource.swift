package import SecretModel
package import SecureMemory

/// Secrets that another program keeps, to be brought into a store.
package protocol ImportSource: Sendable {
  /// What can be brought in, in the source's own order.
  var entries: [ImportEntry] { get }
  /// The entries of the source that cannot be brought in.
  var unusable: [UnusableEntry] { get }
  /// What is left out of all entries, in words that follow "left out": nothing that is secret.
  var leftOut: [String] { get }
  /// The items that an entry becomes. The first has the entry's name and attributes; what else is secret in the entry
  /// follows as items of their own.
  ///
  /// - Throws: `unreadable` where other entries may be read all the same, else what ends the import.
  func items(of entry: ImportEntry) async throws(ImportError) -> [ImportedItem]
}

extension ImportSource {
  package var leftOut: [String] { [] }
}

/// What is known about an entry of a source before its secrets are read.
package struct ImportEntry: Sendable, Hashable {
  /// Where it stands in its source, from 0 on.
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

/// An entry that stays where it is.
package struct UnusableEntry: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// The entry itself cannot be brought in: in words that follow "it".
    case source(String)
    /// A field of it cannot be what the other program meant: its name, and why in words that follow it. Never its value.
    case field(String, String)
    /// The store does not take it.
    case refused(VaultError)
  }

  /// Its name in its source, or its place there.
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
  /// The input is not what it was said to be; the value says where and why.
  case malformed(String)
  /// The program or service that reads the source is not there; the value says which and why.
  case unavailable(String)
  /// One entry cannot be read; the value says why, in words that follow "it". The others may be readable.
  case unreadable(String)
  /// The person closed the question that the other program asked; the value says of what.
  case declined(String)
  /// What would be read is this store itself.
  case ownService
  /// The system refused to read; the value says what.
  case system(String)
}
