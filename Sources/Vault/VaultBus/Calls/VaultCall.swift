internal import SDBus
internal import SecretModel

/// A call of the vault: the signatures of its messages, and its implementation on the server. Each call is defined in a
/// file of this folder and added to the list at its top.
package struct VaultCall: Sendable {
  /// The name of the D-Bus method.
  package let member: String
  /// The D-Bus signature of the arguments. The first one is the number of the call.
  package let arguments: String
  /// The D-Bus signature of the results.
  package let results: String
  /// Whether the call changes the store, so that it must not be repeated. If the connection is lost during such a call,
  /// it is unknown whether the change was made.
  package let isChange: Bool
  /// Whether the call ends the wait of another call, or helps to. Such a call is not subject to the limit of open
  /// calls.
  package let endsWaiting: Bool
  /// Carries out the call: reads its arguments, passes them to the vault and returns the results.
  let perform: Performance
  typealias Performance =
    @Sendable (_ vault: isolated any ServedVault, _ call: ReceivedCall) async throws(VaultError) -> [BusValue]

  /// - Parameter arguments: those after the call's number.
  init(
    _ member: String, takes arguments: String = "", gives results: String = "", isChange: Bool = false,
    endsWaiting: Bool = false, _ perform: @escaping Performance
  ) {
    self.member = member
    self.arguments = "t" + arguments
    self.results = results
    self.isChange = isChange
    self.endsWaiting = endsWaiting
    self.perform = perform
  }
}

/// A call that has arrived, with arguments of the call's signature.
struct ReceivedCall {
  /// The arguments after the call's number.
  let values: [BusValue]
  let memory: MemoryBudget.Share
  /// The memory of the answer.
  let unread: UnreadAnswer
  /// Where the events of a new context go.
  let connection: BusConnection

  subscript(_ place: Int) -> BusValue { values[place] }
}

/// The vault for the calls of one connection.
protocol ServedVault: Actor {
  nonisolated var vaults: any VaultConnection { get }
  /// The open store.
  var service: any VaultService { get throws(VaultError) }

  func open(_ place: StorePlace) async throws(VaultError)
  func openContext(_ options: ContextOptions, over connection: BusConnection) async throws(VaultError) -> ContextHandle
  /// Keeps the memory of a context's application password until the context ends.
  func keep(_ memory: MemoryBudget.Share, forPasswordOf handle: ContextHandle)
  func contextIsClosed(_ handle: ContextHandle)
}
