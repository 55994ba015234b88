import VaultStore

/// A call in a context of a vault, running or ended.
package struct ContextCall: Sendable, Hashable {
  let context: ContextHandle
  /// The number of the call in the context.
  let number: UInt64
}
