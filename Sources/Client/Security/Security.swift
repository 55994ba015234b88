// Security: Keychain Services under the name of Apple's framework, for code that must stay unchanged.
@_exported public import KeychainServices
