internal import SDBus
internal import SecretModel

/// A call of the vault, for the table of the server: the signatures of its messages, and what carries it out.
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
  let perform: @Sendable (_ vault: isolated Served, _ call: ReceivedCall) async throws(VaultError) -> [BusValue]

  /// The two calls that the server object answers itself.
  package static let hello = Self(
    member: "Hello", arguments: "tuas", results: "uas", isChange: false, endsWaiting: false
  ) { (_, _) async throws(VaultError) in [] }
  static let cancel = Self(
    member: "Cancel", arguments: "t", results: "", isChange: false, endsWaiting: true
  ) { (_, _) async throws(VaultError) in [] }
}

/// A call of the vault, for both ends: the types of its arguments and of its answer. Each one is defined in a file of
/// Calls, beside the method of the client that makes it, and is in the list at the top of its group.
struct Call<Answer: BusParts, each Argument: BusParts>: Sendable {
  let call: VaultCall

  /// - Parameter perform: what the server does with the arguments.
  init(
    _ member: String, isChange: Bool = false, endsWaiting: Bool = false,
    _ perform:
      @escaping @Sendable (
        _ vault: isolated Served, repeat each Argument
      ) async throws(VaultError) -> Answer
  ) {
    self.init(member, isChange: isChange, endsWaiting: endsWaiting) {
      (vault: isolated Served, _: ReceivedCall, arguments: repeat each Argument) async throws(VaultError) in
      try await perform(vault, repeat each arguments)
    }
  }

  /// - Parameter perform: as above, for calls that need to know more of the message that has arrived.
  init(
    _ member: String, isChange: Bool = false, endsWaiting: Bool = false,
    ofMessage perform:
      @escaping @Sendable (
        _ vault: isolated Served, _ call: ReceivedCall, repeat each Argument
      ) async throws(VaultError) -> Answer
  ) {
    var arguments = "t"
    repeat arguments += (each Argument).busSignature
    call = VaultCall(
      member: member, arguments: arguments, results: Answer.busSignature, isChange: isChange, endsWaiting: endsWaiting
    ) { (vault: isolated Served, call) async throws(VaultError) in
      var place = 0
      func next<Value: BusParts>(_: Value.Type) throws(VaultError) -> Value {
        let values = Array(call.values[place..<place + Value.places])
        place += Value.places
        return try VaultError.ofReading { try Value(bus: values) }
      }
      let answer = try await perform(vault, call, repeat try next((each Argument).self))
      if let secrets = answer as? any CarriesSecrets { try call.unread.take(forSecrets: secrets.secretCount) }
      return try VaultError.ofReading { try answer.busValues() }
    }
  }
}

/// Calls that return nothing.
extension Call where Answer == Done {
  init(
    _ member: String, isChange: Bool = false, endsWaiting: Bool = false,
    _ perform:
      @escaping @Sendable (
        _ vault: isolated Served, repeat each Argument
      ) async throws(VaultError) -> Void
  ) {
    self.init(member, isChange: isChange, endsWaiting: endsWaiting) {
      (vault: isolated Served, arguments: repeat each Argument) async throws(VaultError) -> Done in
      try await perform(vault, repeat each arguments)
      return Done()
    }
  }
}

/// The calls, in groups.
enum Calls {}

/// The answer of a call that returns nothing.
struct Done: BusParts {
  static var busSignature: String { "" }
  static var places: Int { 0 }
  func busValues() -> [BusValue] { [] }
  init() {}
  init(bus values: [BusValue]) {}
}

/// An answer of two values.
struct Both<First: BusCodable, Second: BusCodable>: BusParts {
  let first: First
  let second: Second

  init(_ first: First, _ second: Second) { (self.first, self.second) = (first, second) }

  static var busSignature: String { First.busSignature + Second.busSignature }
  static var places: Int { 2 }
  func busValues() -> [BusValue] { [first.busValue, second.busValue] }
  init(bus values: [BusValue]) throws {
    (first, second) = (try First(bus: values[0]), try Second(bus: values[1]))
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
}

typealias Served = any ServedVault

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
