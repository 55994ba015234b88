@_exported public import KeychainServices
