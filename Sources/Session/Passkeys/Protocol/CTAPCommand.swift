/// A request of CTAP2.
enum CTAPCommand: Sendable, Hashable {
  case makeCredential(MakeCredential)
  case getAssertion(GetAssertion)
  case getNextAssertion
  case getInfo
  case clientPIN(ClientPIN)
  case reset
  case credentialManagement(CredentialManagement)
  case selection

  /// Reads a message of CTAPHID_CBOR.
  init(decoding message: [UInt8]) throws(CTAPStatus) {
    guard let number = message.first else { throw .invalidLength }
    let parameters = message.dropFirst()
    switch number {
    case 0x01: self = .makeCredential(try MakeCredential(try CTAPFields(decoding: parameters)))
    case 0x02: self = .getAssertion(try GetAssertion(try CTAPFields(decoding: parameters)))
    case 0x04: self = .getInfo
    case 0x06: self = .clientPIN(try ClientPIN(try CTAPFields(decoding: parameters)))
    case 0x07: self = .reset
    case 0x08: self = .getNextAssertion
    // libfido2 up to 1.12 sends the number that the command had before CTAP 2.1.
    case 0x0A, 0x41: self = .credentialManagement(try CredentialManagement(try CTAPFields(decoding: parameters)))
    case 0x0B: self = .selection
    default: throw .invalidCommand
    }
  }
}
