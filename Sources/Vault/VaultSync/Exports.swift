@_exported public import SecretModel
