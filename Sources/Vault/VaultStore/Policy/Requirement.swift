/// An access control as a list of alternatives. One alternative must be satisfied, with all of its factors.
package struct Requirement {
  package enum Factor: Hashable {
    /// A finger enrolled now.
    case finger
    /// A finger of the set the item was bound to, whose key is part of the wrapping.
    case boundFinger
    /// The passcode as a gate only: its key is not part of the wrapping.
    case passcodeGate
    /// The passcode, whose key is part of the wrapping.
    case passcode
  }

  package let alternatives: [Set<Factor>]

  package init(_ access: AccessControl) {
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

  /// The alternatives without this factor.
  package func without(_ factor: Factor) -> Requirement {
    Requirement(alternatives: alternatives.filter { !$0.contains(factor) })
  }

  /// The alternatives without those that have these wrappings.
  package func without(_ wrappings: Set<Set<Factor>>) -> Requirement {
    Requirement(alternatives: alternatives.filter { !wrappings.contains(Self.wrapping(of: $0)) })
  }

  /// Whether one alternative needs no factor.
  package var isOpen: Bool { alternatives.contains([]) }

  /// Whether every alternative contains one of these factors.
  package func always(_ wanted: Factor...) -> Bool {
    alternatives.allSatisfy { !$0.isDisjoint(with: wanted) }
  }

  package func mentions(_ wanted: Factor...) -> Bool {
    alternatives.contains { !$0.isDisjoint(with: wanted) }
  }

  /// The combinations of keys under which the item's key is wrapped, each once.
  package var wrappings: [Set<Factor>] {
    var seen: [Set<Factor>] = []
    for alternative in alternatives {
      let keys = Self.wrapping(of: alternative)
      if !seen.contains(keys) { seen.append(keys) }
    }
    return seen
  }

  /// The factors of an alternative that have keys.
  package static func wrapping(of alternative: Set<Factor>) -> Set<Factor> {
    alternative.intersection([.boundFinger, .passcode])
  }
}
