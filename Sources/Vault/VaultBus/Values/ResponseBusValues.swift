internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The arguments of `Respond` after the call's number: the context, what is done, the question, and the secret.
extension ContextResponse {
  static func busValues(declining question: Int, in context: ContextHandle) -> [BusValue] {
    [context.busValue, .string("decline"), question.busValue, .array(of: "h", [])]
  }

  consuming func busValues(in context: ContextHandle) throws(VaultError) -> [BusValue] {
    switch consume self {
    case .secret(let question, let secret):
      [context.busValue, .string("secret"), question.busValue, .array(of: "h", [try secret.sealed()])]
    case .decline(let question): Self.busValues(declining: question, in: context)
    case .fallback: [context.busValue, .string("fallback"), 0.busValue, .array(of: "h", [])]
    case .cancel: [context.busValue, .string("cancel"), 0.busValue, .array(of: "h", [])]
    }
  }

  /// - Parameter values: the arguments after the context.
  init(bus values: ArraySlice<BusValue>) throws(VaultError) {
    let values = Array(values)
    let question = try Int(bus: values[1])
    switch values[0].asString {
    case "secret":
      guard let file = values[2].asArray?.first else { throw .unreadable("a response") }
      self = .secret(question: question, try SecretBytes(sealed: file, limit: NewItem.secretLimit))
    case "decline": self = .decline(question: question)
    case "fallback": self = .fallback
    case "cancel": self = .cancel
    default: throw .versionMismatch("the vault does not know this response: it is older than this program")
    }
  }
}
