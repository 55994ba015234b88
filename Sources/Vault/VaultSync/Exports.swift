// VaultSync: the circle of a store, which is the machines that share items. Begin with `Circle`: its keys, and the lists of
// its members. `Format/` has what is written to the repository, signed and encrypted to the members (docs/sync-format.md),
// `Records/` what this store remembers of it, and `AgeFormat/` the format of encrypted files.

@_exported public import SecretModel
