/// What an access control asks for, resolved: one of the alternatives, and of that one everything.
struct Requirement {
  enum Factor: Hashable {
    /// A finger enrolled now.
    case finger
    /// A finger of the set the item was bound to, whose key is part of the wrapping.
    case boundFinger
    /// The passcode as a gate only: the item's key does not hang on it.
    case passcodeGate
    /// The passcode, whose key is part of the wrapping.
    case passcode
  }

  let alternatives: [Set<Factor>]

  init(_ access: AccessControl) {
    let flags = access.flags
    if flags.contains(.userPresence) {
      alternatives = [[.finger], [.passcodeGate]]
      return
    }
    var factors: [Factor] = []
    if flags.contains(.biometryAny) { factors.append(.finger) }
    if flags.contains(.biometryCurrentSet) { factors.append(.boundFinger) }
    if flags.contains(.devicePasscode) { factors.append(.passcode) }
    alternatives = flags.contains(.or) && !factors.isEmpty ? factors.map { [$0] } : [Set(factors)]
  }

  private init(alternatives: [Set<Factor>]) { self.alternatives = alternatives }

  /// The alternatives that do without this.
  func without(_ factor: Factor) -> Requirement {
    Requirement(alternatives: alternatives.filter { !$0.contains(factor) })
  }

  /// The alternatives but for those with these wrappings.
  func without(_ wrappings: Set<Set<Factor>>) -> Requirement {
    Requirement(alternatives: alternatives.filter { !wrappings.contains(Self.wrapping(of: $0)) })
  }

  /// Nothing is asked for.
  var isOpen: Bool { alternatives.contains([]) }

  /// Every way in leads through this.
  func always(_ wanted: Factor...) -> Bool {
    alternatives.allSatisfy { !$0.isDisjoint(with: wanted) }
  }

  func mentions(_ wanted: Factor...) -> Bool {
    alternatives.contains { !$0.isDisjoint(with: wanted) }
  }

  /// What the item's key is wrapped under, once for each different combination of keys.
  var wrappings: [Set<Factor>] {
    var seen: [Set<Factor>] = []
    for alternative in alternatives {
      let keys = Self.wrapping(of: alternative)
      if !seen.contains(keys) { seen.append(keys) }
    }
    return seen
  }

  /// Those factors of an alternative that have keys of their own.
  static func wrapping(of alternative: Set<Factor>) -> Set<Factor> {
    alternative.intersection([.boundFinger, .passcode])
  }
}
