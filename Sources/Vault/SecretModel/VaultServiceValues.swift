package import Primitives

/// How a call may prompt the person, and in which context.
package struct Asking: Sendable {
  /// The context for prompts; nil: a call that needs one throws `interactionNotAllowed`.
  package var context: ContextHandle?
  /// New options of the context from this call on; nil: unchanged.
  package var options: ContextOptions?
  /// The reason, for the prompt.
  package var reason: String?
  /// The program for which the caller claims to ask, for the log; nil if it asks for itself.
  package var behalf: String?

  package init(
    in context: ContextHandle?, options: ContextOptions? = nil, reason: String? = nil, behalf: String? = nil
  ) {
    self.context = context
    self.options = options
    self.reason = reason
    self.behalf = behalf
  }

  /// Nobody is asked.
  package static let nobody = Asking(in: nil)
}

/// The items of a call.
package enum ItemSelection: Sendable, Hashable {
  /// These items, in this order.
  case ids([ItemID])
  /// The command line's items of these names, in this order.
  case names([ItemName])
  /// The generic passwords of these names in an access group, in this order. Leaves out those that are missing,
  /// damaged, locked or need a prompt.
  case open([ItemName], group: String)
  /// The items that a search finds.
  case search(ItemSearch)
}

/// A page of the items that a search finds.
package struct ItemPage: Sendable {
  package var items: [Item]
  /// Where the next page begins (``ItemSearch/after``); nil for the last page.
  package var next: ItemCursor?

  package init(items: [Item], next: ItemCursor?) {
    self.items = items
    self.next = next
  }
}

/// Why a context was closed, and its running call ended.
package enum ContextEnd: String, Sendable, Hashable {
  /// The person cancelled: `cancelled`.
  case person
  /// The program closed the context: `appCancelled`.
  case program
  /// The program's wait for the person timed out: `timedOut`.
  case time
  /// The connection, the store or the session ended: `systemCancelled`.
  case system

  package var error: VaultError {
    switch self {
    case .person: .cancelled
    case .program: .appCancelled
    case .time: .timedOut
    case .system: .systemCancelled
    }
  }
}

/// What an evaluation asks for.
package enum Proof: Sendable, Hashable {
  /// One of the two policies of LocalAuthentication.
  case policy(AuthenticationPolicy)
  /// An access control.
  case access(AccessControl)
}

/// The state of fingers and passcode, available without a prompt.
package struct Biometry: Sendable {
  /// Whether a reader is attached.
  package var hasReader: Bool
  /// Why no finger can be asked for now; nil if one can be.
  package var problem: VaultError?
  /// The digest of the enrolment set; nil if no finger is enrolled or the set cannot be read now.
  package var state: [UInt8]?
  package var passcodeSet: Bool
  /// Whether the person cannot touch the reader: the lid is closed over the only one, or the caller's session is remote.
  package var isOutOfReach: Bool

  package init(
    hasReader: Bool, problem: VaultError?, state: [UInt8]?, passcodeSet: Bool, isOutOfReach: Bool = false
  ) {
    self.hasReader = hasReader
    self.problem = problem
    self.state = state
    self.passcodeSet = passcodeSet
    self.isOutOfReach = isOutOfReach
  }
}

/// A change that destroys items.
package enum LosingChange: String, Sendable, Hashable {
  /// A finger is enrolled on the attached reader, or removed from its set.
  case fingers
  /// The passcode is removed.
  case passcode
}

/// The attached readers, and the one that a store would use.
package struct ReaderList: Sendable {
  package var readers: [ReaderDescription]
  /// The reader that the store would use; nil if it would use none, and `problem` says why.
  package var chosen: ReaderDescription?
  package var problem: VaultError?

  package init(readers: [ReaderDescription], chosen: ReaderDescription?, problem: VaultError?) {
    self.readers = readers
    self.chosen = chosen
    self.problem = problem
  }
}

/// A new store that has not been moved to its place yet.
package final class StoreDraft: Sendable {
  /// Identifies a draft on the connection that made it.
  package struct ID: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }
  }

  package let id: ID
  /// The text of the recovery key, which is shown once and not stored.
  package let recoveryKey: SecretBytes

  package init(id: ID, recoveryKey: consuming SecretBytes) {
    self.id = id
    self.recoveryKey = recoveryKey
  }
}
