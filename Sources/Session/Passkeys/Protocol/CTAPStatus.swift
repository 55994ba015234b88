/// The status codes of CTAP2 that Whorl answers with (CTAP 2.1, 8.2).
package enum CTAPStatus: UInt8, Error, Sendable, Hashable {
  case ok = 0x00
  case invalidCommand = 0x01
  case invalidParameter = 0x02
  case invalidLength = 0x03
  case unexpectedType = 0x11
  case invalidCBOR = 0x12
  case missingParameter = 0x14
  case credentialExcluded = 0x19
  case unsupportedAlgorithm = 0x26
  case operationDenied = 0x27
  case keyStoreFull = 0x28
  case unsupportedOption = 0x2B
  case invalidOption = 0x2C
  case keepAliveCancel = 0x2D
  case noCredentials = 0x2E
  case userActionTimeout = 0x2F
  case notAllowed = 0x30
  case pinInvalid = 0x31
  case pinAuthInvalid = 0x33
  case tokenRequired = 0x36
  case requestTooLarge = 0x39
  case uvBlocked = 0x3C
  case invalidSubcommand = 0x3E
  case uvInvalid = 0x3F
  case unauthorizedPermission = 0x40
  case other = 0x7F
}
