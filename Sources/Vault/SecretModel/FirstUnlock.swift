/// What opens the items of a store after its vault has started.
package enum FirstUnlock: String, Sendable, CaseIterable {
  /// Nothing: they are open from the start.
  case none = "none"
  /// The passcode, which has a part in the wrapping of every class key.
  case passcode = "passcode"
}
