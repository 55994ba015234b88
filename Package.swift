// swift-tools-version: 6.2
import PackageDescription

// Strict checks for all targets, including tests, so that the compiler enforces as many rules as possible.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]
// For the targets that a call of the vault or of a reader passes through: asynchronous functions run on their caller's
// executor, so that a call switches threads only where necessary, and not to the cooperative pool.
let onTheWay = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
let strictC: [CSetting] = [.enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: .error)]
// The examples use the language mode that most existing client code uses.
let client: [SwiftSetting] = [.swiftLanguageMode(.v5)]
func example(_ name: String, _ dependencies: [Target.Dependency], _ folder: String) -> Target {
  .executableTarget(name: name, dependencies: dependencies, path: "Examples/\(folder)", swiftSettings: client)
}
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

// A target depends only on lower layers, those of the table in CONTRIBUTING.md (`DependencyTableTests`).
let package = Package(
  name: "whorl",
  products: [
    .library(name: "Whorl", targets: ["Whorl"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "Security", targets: ["Security"]),
    .library(name: "WhorlTesting", targets: ["WhorlTesting"]),
  ]
    + ["whorl", "whorld", "whorl-reader", "whorl-program-path", "whorl-fido", "whorl-agent", "whorl-finger"].map {
      .executable(name: $0, targets: [$0])
    },
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Layers 0 to 3, of which the first are system libraries, each a module map and shims
    .systemLibrary(
      name: "CFprint", path: "Sources/System/CFprint", pkgConfig: "libfprint-2",
      providers: [.apt(["libfprint-2-dev", "libglib2.0-dev"])]),
    .systemLibrary(
      name: "COpenSSL", path: "Sources/System/COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(
      name: "CSystemd", path: "Sources/System/CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CLinux", path: "Sources/System/CLinux"),
    .systemLibrary(
      name: "CSQLite", path: "Sources/System/CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CExpat", path: "Sources/System/CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(
      name: "CCBOR", path: "Sources/System/CCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
    .systemLibrary(
      name: "CTSS", path: "Sources/System/CTSS", pkgConfig: "tss2-esys", providers: [.apt(["libtss2-dev"])]),
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
    .target(name: "Primitives", path: "Sources/Common/Primitives"),
    .target(name: "SecureMemory", dependencies: ["CLinux"], path: "Sources/Common/SecureMemory"),
    .target(name: "CBOR", dependencies: ["CCBOR"], path: "Sources/Common/CBOR"),
    .target(name: "KeySchemes", path: "Sources/Common/KeySchemes"),
    .target(name: "GLibKit", dependencies: ["CFprint"], path: "Sources/Reader/GLibKit"),
    .target(
      name: "SDBus", dependencies: ["CSystemd", "Primitives"], path: "Sources/Common/SDBus", swiftSettings: onTheWay),
    .target(name: "Executors", path: "Sources/Common/Executors"),
    .target(name: "TerminalGuard", path: "Sources/System/TerminalGuard"),
    .target(
      name: "Processes", dependencies: ["CLinux", "Executors", "SDBus", "SecureMemory"],
      path: "Sources/Common/Processes", swiftSettings: onTheWay),
    .target(
      name: "Fingerprint", dependencies: ["Primitives", "SecureMemory"], path: "Sources/Common/Fingerprint",
      swiftSettings: onTheWay),
    .target(name: "Keys", dependencies: ["COpenSSL", "KeySchemes", "SecureMemory"], path: "Sources/Vault/Keys"),
    .target(name: "TPM", dependencies: ["CTSS", "SecureMemory"], path: "Sources/Vault/TPM"),
    .target(name: "Recordings", dependencies: ["Primitives"], path: "Sources/Reader/Recordings"),
    .target(
      name: "Confinement", dependencies: ["CLinux", "Fingerprint", "Primitives"], path: "Sources/Reader/Confinement"),
    .target(
      name: "ReaderBus", dependencies: ["Processes", "SDBus", "SecureMemory", "Fingerprint"],
      path: "Sources/Reader/ReaderBus", swiftSettings: onTheWay),
    .target(
      name: "SecretModel", dependencies: ["Primitives", "SecureMemory", "Fingerprint", "KeySchemes"],
      path: "Sources/Vault/SecretModel", swiftSettings: onTheWay),
    // Layers 4 to 7: the vault. Only Presence makes evidence that a person was there.
    .target(
      name: "VaultStore",
      dependencies: [
        "CSQLite", "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        grdb,
      ],
      path: "Sources/Vault/VaultStore", swiftSettings: onTheWay),
    .target(
      name: "Presence",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "SecretModel", "SecureMemory", "TPM",
        "VaultStore", grdb,
      ],
      path: "Sources/Vault/Presence", swiftSettings: onTheWay),
    .target(
      name: "VaultSync",
      dependencies: [
        "AgeFormat", "Keys", "KeySchemes", "Primitives", "SecretModel", "SecureMemory", "VaultStore", grdb,
      ],
      path: "Sources/Vault/VaultSync", swiftSettings: onTheWay),
    .target(
      name: "VaultItems",
      dependencies: [
        "CBOR", "Executors", "Fingerprint", "Keys", "KeySchemes", "Presence", "Primitives", "SecretModel",
        "SecureMemory", "VaultStore", "VaultSync", grdb,
      ],
      path: "Sources/Vault/VaultItems", swiftSettings: onTheWay),
    .target(
      name: "Vault",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "KeySchemes", "Presence", "Primitives", "Processes", "SecretModel",
        "SecureMemory", "TPM", "VaultItems", "VaultStore", "VaultSync", grdb,
      ],
      path: "Sources/Vault/Vault", swiftSettings: onTheWay),
    // Layer 4
    .target(
      name: "ReaderService",
      dependencies: [
        "CFprint", "CPNG", "Executors", "GLibKit", "Primitives", "SDBus", "SecureMemory", "Fingerprint", "ReaderBus",
      ],
      path: "Sources/Reader/ReaderService", swiftSettings: onTheWay),
    .target(
      name: "ReaderClient",
      dependencies: ["Executors", "Processes", "SDBus", "Fingerprint", "ReaderBus", "Recordings"],
      path: "Sources/Reader/ReaderClient", swiftSettings: onTheWay),
    .target(
      name: "VaultBus",
      dependencies: [
        "Executors", "Fingerprint", "KeySchemes", "Processes", "ReaderBus", "SDBus", "SecretModel", "SecureMemory",
      ],
      path: "Sources/Vault/VaultBus", swiftSettings: onTheWay),
    .target(name: "AgeFormat", dependencies: ["Keys", "SecretModel", "SecureMemory"], path: "Sources/Vault/AgeFormat"),
    .target(
      name: "SystemPolicy", dependencies: ["Executors", "Processes", "SDBus", "SecretModel"],
      path: "Sources/Vault/SystemPolicy"),
    // What a client shows and keeps, over any vault
    .target(
      name: "Moving", dependencies: ["Executors", "KeySchemes", "Primitives", "SecretModel", "SecureMemory"],
      path: "Sources/Client/Moving", swiftSettings: onTheWay),
    .target(
      name: "SSHKeys", dependencies: ["KeySchemes", "SecretModel"], path: "Sources/Client/SSHKeys",
      swiftSettings: onTheWay),
    .target(
      name: "SecretServiceItems", dependencies: ["Primitives", "SecretModel"],
      path: "Sources/Client/SecretServiceItems", swiftSettings: onTheWay),
    .target(
      name: "SyncRepository", dependencies: ["CLinux", "Executors", "Primitives", "Processes", "SecretModel"],
      path: "Sources/Client/SyncRepository", swiftSettings: onTheWay),
    .target(
      name: "PromptTexts", dependencies: ["Fingerprint", "SecretModel"], path: "Sources/Client/PromptTexts",
      swiftSettings: onTheWay),
    .target(
      name: "TerminalLines", dependencies: ["CLinux", "PromptTexts", "SecureMemory", "TerminalGuard"],
      path: "Sources/Client/TerminalLines", swiftSettings: onTheWay),
    .target(
      name: "OtherStores",
      dependencies: [
        "CExpat", "Moving", "Primitives", "Processes", "PromptTexts", "SDBus", "SecretModel", "SecretServiceItems",
        "SecureMemory", "VaultBus",
      ],
      path: "Sources/Client/OtherStores", swiftSettings: onTheWay),
    .target(
      name: "VaultHost",
      dependencies: [
        "AgeFormat", "CLinux", "CSystemd", "Executors", "Fingerprint", "Keys", "Presence", "Primitives", "Processes",
        "ReaderBus", "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "SystemPolicy", "TPM", "Vault",
        "VaultItems", "VaultStore",
      ],
      path: "Sources/Vault/VaultHost", swiftSettings: onTheWay),
    .target(
      name: "Wallets", dependencies: ["CLinux", "Primitives", "Processes", "SDBus", "SecretModel", "SecureMemory"],
      path: "Sources/Client/Wallets", swiftSettings: onTheWay),
    .target(
      name: "SystemVault", dependencies: ["CLinux", "Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/SystemVault"),
    .target(
      name: "PrivateVault", dependencies: ["Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/PrivateVault", swiftSettings: onTheWay),
    .target(
      name: "Whorl",
      dependencies: [
        "Executors", "Fingerprint", "Primitives", "PrivateVault", "PromptTexts", "SDBus", "SecretModel", "SecureMemory",
        "SystemVault", "TerminalLines",
      ],
      path: "Sources/Client/Whorl", swiftSettings: onTheWay),
    // Layer 7 and 8: the Apple-shaped API
    .target(
      name: "KeychainServices",
      dependencies: ["SDBus", "Whorl", "SecretModel", "Fingerprint", "Keys", "KeySchemes", "SecureMemory"],
      path: "Sources/Client/KeychainServices", swiftSettings: onTheWay),
    .target(
      name: "LocalAuthentication",
      dependencies: [
        "Executors", "KeySchemes", "KeychainServices", "Whorl", "SecretModel", "Fingerprint", "SecureMemory",
      ],
      path: "Sources/Client/LocalAuthentication"),
    // The same under the name of Apple's module, which makes `canImport(Security)` true in every target of a build.
    .target(name: "Security", dependencies: ["KeychainServices"], path: "Sources/Client/Security"),
    .target(
      name: "SessionPrompts",
      dependencies: [
        "CSystemd", "Executors", "Fingerprint", "Primitives", "Processes", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "TerminalLines", "Whorl",
      ],
      path: "Sources/Session/SessionPrompts"),
    .target(
      name: "SecretService",
      dependencies: [
        "Executors", "Keys", "PromptTexts", "SDBus", "SecretModel", "SecretServiceItems", "SecureMemory",
        "SessionPrompts", "VaultBus", "Whorl",
      ],
      path: "Sources/Session/SecretService", swiftSettings: onTheWay),
    .target(
      name: "SSHAgent",
      dependencies: [
        "CLinux", "Executors", "Keys", "KeySchemes", "Primitives", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "SessionPrompts", "SSHKeys", "Whorl",
      ],
      path: "Sources/Session/SSHAgent", swiftSettings: onTheWay),
    .target(
      name: "Passkeys",
      dependencies: [
        "CBOR", "Executors", "KeySchemes", "Keys", "PromptTexts", "SecretModel", "SecureMemory", "SessionPrompts",
        "Whorl",
      ],
      path: "Sources/Session/Passkeys", swiftSettings: onTheWay),
    .target(
      name: "WhorlTesting",
      dependencies: ["Fingerprint", "Processes", "SecretModel", "SecureMemory", "VirtualFinger", "Whorl"],
      path: "Sources/Testing/WhorlTesting"),
    // Layer 9: thin executables
    .executableTarget(
      name: "whorl",
      dependencies: [
        "CLinux", "Confinement", "Executors", "Fingerprint", "KeySchemes", "Moving", "OtherStores", "Primitives",
        "Processes", "PromptTexts", "ReaderBus", "ReaderClient", "Recordings", "SDBus", "SecretModel",
        "SecretServiceItems", "SecureMemory", "SessionPrompts", "SSHKeys", "SyncRepository", "TerminalLines", "Wallets",
        "Whorl", argumentParser,
      ],
      path: "Sources/Programs/CommandLine"),
    .executableTarget(
      name: "whorld",
      dependencies: [
        "CLinux", "CSystemd", "Executors", "Fingerprint", "Keys", "Presence", "Processes", "SecretModel",
        "SystemPolicy", "Vault", "VaultBus", "VaultHost", "VaultItems", "VaultStore",
      ],
      path: "Sources/Programs/whorld"),
    .executableTarget(
      name: "whorl-reader",
      dependencies: ["ReaderService", "Confinement", "Executors", "ReaderBus", "SDBus", "Fingerprint", "CSystemd"],
      path: "Sources/Programs/whorl-reader", swiftSettings: onTheWay),
    // One may inspect every process, the other make input devices, so they are small and written in C.
    .executableTarget(name: "whorl-program-path", path: "Sources/Programs/whorl-program-path", cSettings: strictC),
    .executableTarget(
      name: "whorl-fido", path: "Sources/Programs/whorl-fido", cSettings: strictC,
      linkerSettings: [.linkedLibrary("systemd")]),
    // Attacks from within the confinement of the reader process, for tests.
    .executableTarget(
      name: "whorl-intruder", dependencies: ["Confinement", "Processes", "Fingerprint", "CLinux"],
      path: "Tests/Support/whorl-intruder"),
    // Checks of GLibKit, for tests: the test runner does not link GLib.
    .executableTarget(name: "glib-checks", dependencies: ["CFprint", "GLibKit"], path: "Tests/Support/glib-checks"),
    .executableTarget(
      name: "whorl-agent",
      dependencies: [
        "CLinux", "CSystemd", "Executors", "Passkeys", "Processes", "PromptTexts", "SDBus", "SecretModel",
        "SecretService", "SessionPrompts", "SSHAgent", "TerminalLines", "Whorl", argumentParser,
      ],
      path: "Sources/Programs/whorl-agent"),
    .executableTarget(
      name: "whorl-finger", dependencies: ["VirtualFinger", "Fingerprint", argumentParser],
      path: "Sources/Programs/whorl-finger"),
    // Layer 10: the programs in Swift that are installed, to build them together (scripts/build).
    .target(
      name: "InstalledPrograms", dependencies: ["whorl", "whorld", "whorl-reader", "whorl-agent", "whorl-finger"],
      path: "Sources/Programs/InstalledPrograms"),
    .executableTarget(
      name: "whorl-bench",
      dependencies: [
        "CSQLite", "Executors", "Fingerprint", "Keys", "KeySchemes", "Passkeys", "Processes", "ReaderClient", "SDBus",
        "SecretModel", "SecretServiceItems", "SecureMemory", "Security", "SessionPrompts", "VaultBus", "VirtualFinger",
        "Whorl",
      ],
      path: "Benchmarks/whorl-bench"),
    // The examples, for the tests. `Examples/Package.swift` builds them as a package of their own, as a client does.
    example("bound-secret", ["LocalAuthentication", "KeychainServices"], "BoundSecret"),
    example("biometry-states", ["LocalAuthentication"], "BiometryStates"),
    example("sign-in", ["LocalAuthentication"], "SignIn"),
    example("feature-gate", ["Whorl"], "FeatureGate"),
    example("internet-password", ["LocalAuthentication", "KeychainServices"], "InternetPassword"),
    example("password-helper", ["LocalAuthentication", "KeychainServices"], "PasswordHelper"),
    example("rights", ["LocalAuthentication"], "Rights"),
    // Sample code from published articles, and a program that was written from Apple's documentation, for the tests.
    .executableTarget(
      name: "published-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/PublishedCode",
      swiftSettings: client),
    .executableTarget(
      name: "documented-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/DocumentedCode",
      swiftSettings: []),
    // Layer T: fingers for machines without a reader
    .target(name: "VirtualFinger", dependencies: ["Fingerprint", "CPNG"], path: "Sources/Testing/VirtualFinger"),
    // and what the tests of several layers share: running programs, searching memory, a vault with a simulated user
    .target(
      name: "ProgramDriver", dependencies: ["SDBus", "Fingerprint", "ReaderClient", "VirtualFinger"],
      path: "Tests/Support/ProgramDriver"),
    .target(name: "Introspection", path: "Tests/Support/Introspection"),
    .target(name: "SoftwareTPM", dependencies: ["CLinux", "TPM"], path: "Tests/Support/SoftwareTPM"),
    // In C, since its functions take the place of the C library's.
    .target(name: "DiskWrites", path: "Tests/Support/DiskWrites"),
    .target(name: "MemorySearch", dependencies: ["SecureMemory"], path: "Tests/Support/MemorySearch"),
    .target(
      name: "VaultDriver",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "Presence", "ReaderClient", "SecretModel", "SecureMemory", "Vault",
        "VaultItems", "VaultStore", "VirtualFinger",
      ],
      path: "Tests/Support/VaultDriver"),
    // Tests, a target per layer. None depends on a program, whose objects SwiftPM would link into the test runner. The
    // programs are built with the tests, into the folder of the runner.
    .testTarget(name: "PrimitivesTests", dependencies: ["Primitives"], path: "Tests/Common/PrimitivesTests"),
    .testTarget(name: "SecureMemoryTests", dependencies: ["SecureMemory"], path: "Tests/Common/SecureMemoryTests"),
    .testTarget(name: "ExecutorsTests", dependencies: ["Executors"], path: "Tests/Common/ExecutorsTests"),
    .testTarget(
      name: "SDBusTests", dependencies: ["MemorySearch", "Primitives", "SDBus", "SecureMemory"],
      path: "Tests/Common/SDBusTests"),
    .testTarget(name: "RecordingsTests", dependencies: ["Recordings"], path: "Tests/Reader/RecordingsTests"),
    .testTarget(name: "GLibKitTests", dependencies: ["ProgramDriver"], path: "Tests/Reader/GLibKitTests"),
    .testTarget(name: "FingerprintTests", dependencies: ["Fingerprint"], path: "Tests/Common/FingerprintTests"),
    .testTarget(
      name: "ProcessesTests", dependencies: ["CLinux", "Processes", "ProgramDriver"],
      path: "Tests/Common/ProcessesTests"),
    .testTarget(
      name: "KeysTests",
      dependencies: ["Primitives", "MemorySearch", "Keys", "KeySchemes", "SecureMemory", "COpenSSL"],
      path: "Tests/Vault/KeysTests"),
    .testTarget(
      name: "TPMTests", dependencies: ["MemorySearch", "SecureMemory", "SoftwareTPM", "TPM"],
      path: "Tests/Vault/TPMTests"),
    .testTarget(
      name: "AgeFormatTests", dependencies: ["AgeFormat", "Keys", "Primitives", "SecretModel", "SecureMemory"],
      path: "Tests/Vault/AgeFormatTests"),
    .testTarget(
      name: "ReaderTests",
      dependencies: [
        "Confinement", "Fingerprint", "Introspection", "Processes", "ProgramDriver", "ReaderBus", "ReaderClient",
        "SDBus", "SecureMemory", "VirtualFinger",
      ],
      path: "Tests/Reader/ReaderTests"),
    .testTarget(
      name: "VirtualFingerTests", dependencies: ["VirtualFinger", "Fingerprint", "Processes", "ReaderClient"],
      path: "Tests/Support/VirtualFingerTests"),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "AgeFormat", "DiskWrites", "Fingerprint", "Keys", "KeySchemes", "MemorySearch", "Presence", "Primitives",
        "ProgramDriver", "ReaderClient", "SecretModel", "SecureMemory", "SoftwareTPM", "TPM", "Vault", "VaultDriver",
        "VaultItems", "VaultStore", "VaultSync", "VirtualFinger", grdb,
      ],
      path: "Tests/Vault/VaultTests"),
    .testTarget(
      name: "PrivateVaultTests",
      dependencies: [
        "Fingerprint", "PrivateVault", "Processes", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory",
      ],
      path: "Tests/Vault/PrivateVaultTests"),
    .testTarget(
      name: "VaultBusTests",
      dependencies: [
        "CLinux", "Fingerprint", "Introspection", "KeySchemes", "Presence", "ProgramDriver", "ReaderBus",
        "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "Vault", "VaultBus", "VaultDriver", "VaultHost",
        "VaultItems", "VaultStore", "VirtualFinger",
      ],
      path: "Tests/Vault/VaultBusTests"),
    // The service in this process: many users' stores behind a listening socket, and how clients find it.
    .testTarget(
      name: "VaultHostTests",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "KeySchemes", "Moving", "Presence", "Processes", "ProgramDriver",
        "ReaderBus", "ReaderClient", "SDBus", "SecretModel", "SecureMemory", "SoftwareTPM", "SystemPolicy",
        "SystemVault", "TPM", "Vault", "VaultBus", "VaultDriver", "VaultHost", "VaultItems", "VaultStore",
        "VirtualFinger", "Wallets", "Whorl",
      ],
      path: "Tests/Vault/VaultHostTests"),
    .testTarget(
      name: "SystemPolicyTests", dependencies: ["SystemPolicy", "SecretModel", "SDBus", "Processes", "ProgramDriver"],
      path: "Tests/Vault/SystemPolicyTests"),
    .testTarget(
      name: "SecurityTests",
      dependencies: [
        "Fingerprint", "Keys", "KeySchemes", "Presence", "SecureMemory", "Security", "Vault", "VaultDriver",
        "VaultItems", "VaultStore", "VirtualFinger", "Whorl",
      ],
      path: "Tests/Client/SecurityTests"),
    .testTarget(
      name: "SecurityClientTests",
      dependencies: [
        "LocalAuthentication", "Presence", "Security", "Vault", "VaultDriver", "VaultItems", "VaultStore", "Whorl",
      ],
      path: "Tests/Client/SecurityClientTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "LocalAuthenticationTests",
      dependencies: [
        "Fingerprint", "KeySchemes", "LocalAuthentication", "Presence", "ReaderClient", "SecretModel", "SecureMemory",
        "Security", "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger", "Whorl",
      ],
      path: "Tests/Client/LocalAuthenticationTests"),
    .testTarget(
      name: "PromptTextsTests", dependencies: ["Fingerprint", "PromptTexts", "SecretModel"],
      path: "Tests/Client/PromptTextsTests"),
    .testTarget(
      name: "TerminalLinesTests", dependencies: ["SecureMemory", "TerminalLines"],
      path: "Tests/Client/TerminalLinesTests"),
    .testTarget(
      name: "WhorlTests",
      dependencies: [
        "Fingerprint", "Moving", "ProgramDriver", "PromptTexts", "SecretModel", "SecureMemory", "VaultBus",
        "VaultDriver", "VaultHost", "Whorl",
      ],
      path: "Tests/Client/WhorlTests"),
    .testTarget(
      name: "SSHAgentTests",
      dependencies: [
        "Executors", "Keys", "KeySchemes", "Processes", "ProgramDriver", "PromptTexts", "SDBus", "SecretModel",
        "SecureMemory", "SessionPrompts", "SSHAgent", "SSHKeys", "VaultDriver", "Whorl",
      ],
      path: "Tests/Session/SSHAgentTests"),
    // The Secret Service on a private bus, with secret-tool, Python's clients and a client of its own.
    .testTarget(
      name: "SecretServiceTests",
      dependencies: [
        "Fingerprint", "Keys", "Presence", "ProgramDriver", "SDBus", "SecretModel", "SecretService",
        "SecretServiceItems", "SecureMemory", "SessionPrompts", "Vault", "VaultDriver", "VaultItems", "VaultStore",
        "Whorl",
      ],
      path: "Tests/Session/SecretServiceTests"),
    .testTarget(
      name: "WalletsTests",
      dependencies: [
        "Moving", "OtherStores", "Presence", "ProgramDriver", "SDBus", "SecretModel", "SecureMemory", "Vault",
        "VaultDriver", "VaultItems", "VaultStore", "Wallets",
      ],
      path: "Tests/Client/WalletsTests"),
    .testTarget(
      name: "OtherStoresTests",
      dependencies: [
        "MemorySearch", "Moving", "OtherStores", "ProgramDriver", "SecretModel", "SecureMemory", "VaultDriver",
      ],
      path: "Tests/Client/OtherStoresTests"),
    .testTarget(
      name: "WhorlTestingTests",
      dependencies: ["WhorlTesting", "Whorl", "LocalAuthentication", "KeychainServices", "VaultDriver"],
      path: "Tests/Client/WhorlTestingTests"),
    // The built programs, run as a user would run them; and checks of the package itself.
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "Confinement", "Executors", "Fingerprint", "Presence", "Primitives", "ProgramDriver", "ReaderClient",
        "SecureMemory", "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger",
      ],
      path: "Tests/Programs/CommandLineTests"),
    // The examples and other clients of the libraries, run with a simulated user.
    .testTarget(name: "ExampleTests", dependencies: ["ProgramDriver"], path: "Tests/Programs/ExampleTests"),
    // Attacks on the security promises: kills, faults, restores, many clients at once.
    .testTarget(
      name: "HardeningTests",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "MemorySearch", "Presence", "ProgramDriver", "ReaderClient", "SecureMemory",
        "Vault", "VaultDriver", "VaultItems", "VaultStore", "VirtualFinger", grdb,
      ],
      path: "Tests/Programs/HardeningTests"),
    .testTarget(name: "CBORTests", dependencies: ["CBOR", "Primitives"], path: "Tests/Common/CBORTests"),
    .testTarget(
      name: "PasskeysTests",
      dependencies: [
        "CBOR", "Fingerprint", "KeySchemes", "Keys", "Passkeys", "Primitives", "SecretModel", "SecureMemory",
        "SessionPrompts", "Vault", "VaultDriver", "VaultStore", "Whorl",
      ],
      path: "Tests/Session/PasskeysTests"),
    .testTarget(
      name: "SyncRepositoryTests",
      dependencies: ["Executors", "Processes", "ProgramDriver", "SecretModel", "SecureMemory", "SyncRepository"],
      path: "Tests/Client/SyncRepositoryTests"),
    .testTarget(name: "PackageTests", path: "Tests/PackageTests"),
  ],
  swiftLanguageModes: [.v6]
)
// Settings that a target does not have itself.
for target in package.targets where target.swiftSettings == nil && target.type != .system {
  target.swiftSettings = strict
}
// Every unsafe expression of these targets is marked.
let marked: Set = [
  "Fingerprint", "KeySchemes", "Primitives", "PromptTexts", "SSHKeys", "SecretModel", "SecretServiceItems", "Whorl",
]
for target in package.targets where marked.contains(target.name) {
  target.swiftSettings?.append(.strictMemorySafety())
}

/// The programs that the tests of a target start. They are no dependencies, since SwiftPM would link their objects into
/// the test runner.
let examples = [
  "bound-secret", "biometry-states", "sign-in", "feature-gate", "internet-password", "password-helper", "rights",
]
let commandLine = ["whorl", "whorld", "whorl-reader", "whorl-agent"]
let started: [String: [String]] = [
  "CommandLineTests": commandLine + ["whorl-finger", "whorl-intruder"],
  "ExampleTests": commandLine + ["whorl-finger", "published-code", "documented-code"] + examples,
  "GLibKitTests": ["glib-checks"],
  "HardeningTests": commandLine,
  "PasskeysTests": ["whorl-fido"],
  "PrivateVaultTests": ["whorld", "whorl-reader"],
  "ReaderTests": ["whorl-reader", "whorl-intruder"],
  "SSHAgentTests": commandLine,
  "SecretServiceTests": commandLine,
  "VaultDriver": ["whorl-reader"],
  "VaultHostTests": commandLine + ["whorl-program-path"],
  "VirtualFingerTests": ["whorl-finger", "whorl-reader"],
  "WhorlTests": ["whorld", "whorl-reader"],
]

// `make check` builds a slice of the package: one test target, what it depends on and the programs that its tests start.
// It is for development only: without this variable the package is whole.
if let slice = Context.environment["WHORL_SLICE"] {
  var kept: Set<String> = []
  var open = [slice]
  while let name = open.popLast() {
    guard kept.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    open += started[name] ?? []
    for case .byNameItem(let dependency, _) in target.dependencies { open.append(dependency) }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products.removeAll { product in
    guard let library = product as? Product.Library else { return !kept.contains(product.name) }
    return !library.targets.allSatisfy(kept.contains)
  }
}
