internal import SDBus
internal import SecretModel
internal import SecureMemory

/// The arguments of `Respond` after the call's number: the context, the response, the question, and the secret.
extension ContextResponse {
  consuming func busValues(in context: ContextHandle) -> [BusValue] {
    switch consume self {
    case .secret(let question, let secret):
      // If the secret cannot be sent, decline, so that the call that asks for it does not wait for ever.
      guard secret.count <= NewItem.secretLimit, let file = try? secret.sealed() else {
        return Self.busValues(declining: question, in: context)
      }
      return Self.busValues("secret", question, [file], in: context)
    case .decline(let question): return Self.busValues(declining: question, in: context)
    case .ready(let question): return Self.busValues("ready", question, in: context)
    case .reject(let notice): return Self.busValues("reject", notice, in: context)
    case .fallback: return Self.busValues("fallback", in: context)
    case .cancel: return Self.busValues("cancel", in: context)
    }
  }

  static func busValues(declining question: Int, in context: ContextHandle) -> [BusValue] {
    busValues("decline", question, in: context)
  }

  private static func busValues(
    _ response: String, _ question: Int = 0, _ files: [BusValue] = [], in context: ContextHandle
  ) -> [BusValue] {
    [context.busValue, .string(response), question.busValue, .array(of: "h", files)]
  }

  /// - Parameter values: the arguments after the context.
  init(bus values: ArraySlice<BusValue>) throws(VaultError) {
    let values = Array(values)
    let question = try Int(bus: values[1])
    switch values[0].asString {
    case "secret":
      guard let files = values[2].asArray, files.count == 1 else { throw .unreadable("a response") }
      self = .secret(question: question, try SecretBytes(sealed: files[0], limit: NewItem.secretLimit))
    case "decline": self = .decline(question: question)
    case "ready": self = .ready(question: question)
    case "reject": self = .reject(notice: question)
    case "fallback": self = .fallback
    case "cancel": self = .cancel
    default: throw .versionMismatch("the vault does not know this response: it is older than this program")
    }
  }
}
