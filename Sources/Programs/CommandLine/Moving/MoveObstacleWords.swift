internal import Moving
import SecretModel

extension MoveObstacle {
  /// Where items are copied to.
  enum Destination {
    /// The store in the system service (`whorl migrate`).
    case service
    /// An encrypted file (`whorl export`).
    case export
  }

  /// Why the item is not copied, and what can be done.
  func words(_ destination: Destination) -> String {
    switch self {
    case .dead: "the fingers or the passcode that it was bound to are gone"
    case .damaged: "it is damaged"
    case .neverLeaves:
      switch destination {
      case .service: "it is a key that never leaves its store: make another in the service"
      case .export: "it is a key that never leaves its store: make another on the other machine"
      }
    case .applicationPassword:
      switch destination {
      case .service: "it has a password of its own: read it with 'whorl get --store' and store it with 'whorl set'"
      case .export: "it has a password of its own: read it with 'whorl get' and store it there with 'whorl set'"
      }
    case .noFinger: "it needs a finger, and the service has none: 'whorl migrate --enroll FINGER'"
    case .changedSince:
      "it was changed after the service got an item of that name: compare the two, and remove one with 'whorl rm'"
    case .ofThisMachine: "it is an entry of 'whorl login' on this machine: make it there with 'whorl login'"
    case .unreadable(let error): Failure(error).what
    }
  }
}
