internal import Moving
import SecretModel

extension MoveObstacle {
  /// Where items are copied to.
  enum Destination {
    /// The store in the system service (`whorl migrate`).
    case service
    /// An encrypted file (`whorl export`).
    case export
    /// The user's store, from the copy of another store (`whorl restore`).
    case storeOfRestore
  }

  /// Why the item is not copied, and what can be done.
  func words(_ destination: Destination) -> String {
    switch self {
    case .dead: "the fingers or the passcode that it was bound to are gone"
    case .damaged: "it is damaged"
    case .neverLeaves:
      switch destination {
      case .service: "it is a key that never leaves its store: make another in the service"
      case .storeOfRestore: "it is a key that never leaves its store: make another here"
      case .export: "it is a key that never leaves its store: make another on the other machine"
      }
    case .applicationPassword:
      switch destination {
      case .service: "it has a password of its own: read it with 'whorl get --store' and store it with 'whorl set'"
      case .export: "it has a password of its own: read it with 'whorl get' and store it there with 'whorl set'"
      case .storeOfRestore:
        "it has a password of its own: 'whorl restore --store' with a new directory makes a store where 'whorl get' reads it"
      }
    case .noFinger:
      switch destination {
      case .service, .export: "it needs a finger, and the service has none: 'whorl migrate --enroll FINGER'"
      case .storeOfRestore: "it needs a finger, and your store has none: 'whorl enroll' first"
      }
    case .fingerThere:
      "it needs a finger of that other store: 'whorl restore --store' with a new directory makes a store where one can be used"
    case .changedSince:
      "it was changed after the service got an item of that name: compare the two, and remove one with 'whorl rm'"
    case .ofThisMachine: "it is an entry of 'whorl login' on this machine: make it there with 'whorl login'"
    case .unreadable(let error): Failure(error).what
    }
  }
}
