/// What opens the items of a store after its vault has started.
package enum FirstUnlock: String, Sendable, CaseIterable {
  /// Nothing: the items are open from the start.
  case none = "none"
  /// The passcode. Its key is needed to unwrap every class key.
  case passcode = "passcode"
  /// A login of the user at this machine, or the passcode. The key of `after-first-unlock` is also wrapped without the
  /// passcode, so anybody with the store's folder can unwrap it.
  case login = "login"
}
