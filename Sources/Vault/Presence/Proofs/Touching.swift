import VaultStore

/// What a touch is asked for.
struct Touching {
  var purpose: TouchRequest.Purpose
  var scope: Challenge.Scope
  /// The needs that a finger of their bound set can satisfy.
  var bound: [Need]
  /// Whether something can be opened in no other way.
  var onlyBound: Bool
}
