// swift-tools-version: 6.2
import PackageDescription

// Strict everywhere, tests too: what the compiler can prove, nobody has to remember.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

// On the way of a call of the vault: an asynchronous function runs where its caller runs, so that a call changes threads
// only where it has to.
let onTheWay = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

// The examples are written as clients write: in the language mode of the code that people bring along.
let client: [SwiftSetting] = [.swiftLanguageMode(.v5)]

// The layers are those of the table in CONTRIBUTING.md: an arrow points down only. `DependencyTableTests` holds this
// file to it.
let package = Package(
  name: "whorl",
  products: [
    .library(name: "Whorl", targets: ["Whorl"]),
    .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "Security", targets: ["Security"]),
    .library(name: "WhorlTesting", targets: ["WhorlTesting"]),
    .executable(name: "whorl", targets: ["whorl"]),
    .executable(name: "whorld", targets: ["whorld"]),
    .executable(name: "whorl-reader", targets: ["whorl-reader"]),
    .executable(name: "whorl-finger", targets: ["whorl-finger"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // Layer 0: system libraries, a module map and reasoned shims each
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
    .systemLibrary(name: "CPNG", path: "Sources/System/CPNG", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),

    // What the standard library lacks; below everything
    .target(name: "Primitives", path: "Sources/Common/Primitives", swiftSettings: strict),

    // Layer 1
    .target(name: "SecureMemory", dependencies: ["CLinux"], path: "Sources/Common/SecureMemory", swiftSettings: strict),
    .target(name: "KeySchemes", path: "Sources/Common/KeySchemes", swiftSettings: strict),
    .target(name: "GLibKit", dependencies: ["CFprint"], path: "Sources/Reader/GLibKit", swiftSettings: strict),
    .target(
      name: "SDBus", dependencies: ["CSystemd", "Primitives"], path: "Sources/Common/SDBus", swiftSettings: strict),
    .target(name: "Executors", path: "Sources/Common/Executors", swiftSettings: strict),
    .target(name: "TerminalGuard", path: "Sources/System/TerminalGuard"),

    // Layer 2
    .target(
      name: "Processes", dependencies: ["CLinux", "Executors", "SDBus"], path: "Sources/Common/Processes",
      swiftSettings: strict),
    .target(
      name: "Fingerprint", dependencies: ["Primitives", "SecureMemory"], path: "Sources/Common/Fingerprint",
      swiftSettings: strict),
    .target(
      name: "Keys", dependencies: ["COpenSSL", "KeySchemes", "SecureMemory"], path: "Sources/Vault/Keys",
      swiftSettings: strict),

    // Layer 3
    .target(name: "Recordings", dependencies: ["Primitives"], path: "Sources/Reader/Recordings", swiftSettings: strict),
    .target(
      name: "Confinement", dependencies: ["CLinux", "Fingerprint"], path: "Sources/Reader/Confinement",
      swiftSettings: strict),
    .target(
      name: "ReaderBus", dependencies: ["Processes", "SDBus", "SecureMemory", "Fingerprint"],
      path: "Sources/Reader/ReaderBus", swiftSettings: strict),
    .target(
      name: "SecretModel", dependencies: ["Primitives", "SecureMemory", "Fingerprint", "KeySchemes"],
      path: "Sources/Vault/SecretModel", swiftSettings: onTheWay),
    .target(
      name: "Vault",
      dependencies: [
        "Executors",
        "CSQLite", "Primitives", "Processes", "SecureMemory", "SecretModel", "Keys", "KeySchemes", "Fingerprint",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Sources/Vault/Vault", swiftSettings: onTheWay),

    // Layer 4
    .target(
      name: "ReaderService",
      dependencies: ["CFprint", "CPNG", "GLibKit", "SDBus", "SecureMemory", "Fingerprint", "ReaderBus"],
      path: "Sources/Reader/ReaderService", swiftSettings: strict),
    .target(
      name: "ReaderClient",
      dependencies: ["Executors", "Processes", "SDBus", "Fingerprint", "ReaderBus", "Recordings"],
      path: "Sources/Reader/ReaderClient", swiftSettings: strict),

    .target(
      name: "VaultBus",
      dependencies: [
        "Executors", "Processes", "SecureMemory", "KeySchemes", "SDBus", "Fingerprint", "ReaderBus", "SecretModel",
      ],
      path: "Sources/Vault/VaultBus", swiftSettings: onTheWay),

    // What logind and polkit allow
    .target(
      name: "SystemPolicy", dependencies: ["Executors", "Processes", "SDBus", "SecretModel"],
      path: "Sources/Vault/SystemPolicy", swiftSettings: strict),

    // Layer 5
    .target(
      name: "VaultHost",
      dependencies: [
        "Executors", "Fingerprint", "Keys", "Primitives", "Processes", "ReaderClient", "SDBus", "SecretModel",
        "SecureMemory", "SystemPolicy", "Vault",
      ],
      path: "Sources/Vault/VaultHost", swiftSettings: onTheWay),
    .target(
      name: "SystemVault", dependencies: ["CLinux", "Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/SystemVault", swiftSettings: strict),
    .target(
      name: "PrivateVault", dependencies: ["Processes", "SDBus", "SecretModel", "VaultBus"],
      path: "Sources/Vault/PrivateVault", swiftSettings: onTheWay),

    // Layer 6
    .target(
      name: "Whorl",
      dependencies: [
        "Executors", "CLinux", "TerminalGuard", "SecureMemory", "SecretModel", "Fingerprint", "PrivateVault",
        "SystemVault",
      ],
      path: "Sources/Client/Whorl", swiftSettings: onTheWay),

    // Layer 7 and 8: the Apple-shaped API
    .target(
      name: "KeychainServices",
      dependencies: ["Executors", "Whorl", "SecretModel", "Fingerprint", "Keys", "KeySchemes", "SecureMemory"],
      path: "Sources/Client/KeychainServices", swiftSettings: onTheWay),
    .target(
      name: "LocalAuthentication",
      dependencies: ["Executors", "KeychainServices", "Whorl", "SecretModel", "Fingerprint", "SecureMemory"],
      path: "Sources/Client/LocalAuthentication", swiftSettings: strict),
    // The same under Apple's name, for code that must stay unchanged: it makes `canImport(Security)` true in every
    // target of a build.
    .target(
      name: "Security", dependencies: ["KeychainServices"], path: "Sources/Client/Security", swiftSettings: strict),

    // For the tests of programs that use Whorl
    .target(
      name: "WhorlTesting",
      dependencies: ["Fingerprint", "Processes", "SecretModel", "SecureMemory", "VirtualFinger", "Whorl"],
      path: "Sources/Testing/WhorlTesting", swiftSettings: strict),

    // Layer 9: thin executables
    .executableTarget(
      name: "whorl",
      dependencies: [
        "Executors", "Primitives",
        "Whorl", "SecretModel", "ReaderClient", "Confinement", "Processes", "Recordings", "SecureMemory",
        "Fingerprint", "CLinux",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/Programs/CommandLine", swiftSettings: strict),
    .executableTarget(
      name: "whorld",
      dependencies: [
        "CLinux", "CSystemd", "Fingerprint", "Processes", "SecretModel", "SystemPolicy", "Vault", "VaultBus",
        "VaultHost",
      ],
      path: "Sources/Programs/whorld", swiftSettings: strict),
    .executableTarget(
      name: "whorl-reader",
      dependencies: ["ReaderService", "Confinement", "ReaderBus", "SDBus", "Fingerprint", "CSystemd"],
      path: "Sources/Programs/whorl-reader", swiftSettings: strict),
    // Attacks from within the confinement of the reader process, for tests.
    .executableTarget(
      name: "whorl-intruder", dependencies: ["Confinement", "Processes", "Fingerprint", "CLinux"],
      path: "Tests/Support/whorl-intruder", swiftSettings: strict
    ),
    // Checks of GLibKit, for tests: the test runner does not link GLib.
    .executableTarget(
      name: "glib-checks", dependencies: ["CFprint", "GLibKit"], path: "Tests/Support/glib-checks",
      swiftSettings: strict),
    .executableTarget(
      name: "whorl-finger",
      dependencies: [
        "VirtualFinger", "Fingerprint",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Sources/Programs/whorl-finger", swiftSettings: strict),

    .executableTarget(
      name: "whorl-bench",
      dependencies: [
        "CSQLite", "Processes", "SecureMemory", "Keys", "KeySchemes", "Fingerprint", "ReaderClient", "SecretModel",
        "VirtualFinger", "Whorl", "Security",
      ],
      path: "Benchmarks/whorl-bench", swiftSettings: strict),

    // The examples, which `Examples/Package.swift` builds as a package of their own: built here too, so that they are
    // tested with everything else.
    .executableTarget(
      name: "bound-secret", dependencies: ["LocalAuthentication", "KeychainServices"], path: "Examples/BoundSecret",
      swiftSettings: client),
    .executableTarget(
      name: "biometry-states", dependencies: ["LocalAuthentication"], path: "Examples/BiometryStates",
      swiftSettings: client),
    .executableTarget(
      name: "sign-in", dependencies: ["LocalAuthentication"], path: "Examples/SignIn", swiftSettings: client),
    .executableTarget(
      name: "feature-gate", dependencies: ["Whorl"], path: "Examples/FeatureGate", swiftSettings: client),
    .executableTarget(
      name: "internet-password", dependencies: ["LocalAuthentication", "KeychainServices"],
      path: "Examples/InternetPassword",
      swiftSettings: client),
    .executableTarget(
      name: "password-helper", dependencies: ["LocalAuthentication", "KeychainServices"],
      path: "Examples/PasswordHelper",
      swiftSettings: client),

    // Code as articles print it, as a program that tests put a person in front of.
    .executableTarget(
      name: "published-code", dependencies: ["LocalAuthentication", "Security"], path: "Tests/Support/PublishedCode",
      swiftSettings: client),

    // Layer T: fingers for machines without a reader
    .target(
      name: "VirtualFinger", dependencies: ["Fingerprint", "CPNG"], path: "Sources/Testing/VirtualFinger",
      swiftSettings: strict),
    // and what the tests of several layers share: the programs as a user starts them, a search of their own
    // memory, a vault as a person meets it
    .target(
      name: "ProgramDriver", dependencies: ["SDBus", "Fingerprint", "VirtualFinger"],
      path: "Tests/Support/ProgramDriver", swiftSettings: strict),
    .target(name: "Introspection", path: "Tests/Support/Introspection", swiftSettings: strict),
    .target(
      name: "MemorySearch", dependencies: ["SecureMemory"], path: "Tests/Support/MemorySearch", swiftSettings: strict),
    .target(
      name: "VaultDriver",
      dependencies: ["Keys", "SecureMemory", "Fingerprint", "Vault", "ReaderClient", "VirtualFinger"],
      path: "Tests/Support/VaultDriver", swiftSettings: strict),

    // Tests, a target per layer. None depends on a program: SwiftPM would link the program's objects into the test
    // runner, and libfprint with those of the reader. The programs are built with the tests and lie beside the runner.
    .testTarget(
      name: "PrimitivesTests", dependencies: ["Primitives"], path: "Tests/Common/PrimitivesTests",
      swiftSettings: strict),
    .testTarget(
      name: "SecureMemoryTests", dependencies: ["SecureMemory"], path: "Tests/Common/SecureMemoryTests",
      swiftSettings: strict),
    .testTarget(
      name: "SDBusTests", dependencies: ["Primitives", "SDBus"], path: "Tests/Common/SDBusTests", swiftSettings: strict),
    .testTarget(
      name: "RecordingsTests", dependencies: ["Recordings"], path: "Tests/Reader/RecordingsTests", swiftSettings: strict
    ),
    .testTarget(
      name: "GLibKitTests", dependencies: ["ProgramDriver"], path: "Tests/Reader/GLibKitTests", swiftSettings: strict),
    .testTarget(
      name: "FingerprintTests", dependencies: ["Fingerprint"], path: "Tests/Common/FingerprintTests",
      swiftSettings: strict),
    .testTarget(
      name: "ProcessesTests", dependencies: ["CLinux", "Processes", "ProgramDriver"],
      path: "Tests/Common/ProcessesTests", swiftSettings: strict),
    .testTarget(
      name: "KeysTests",
      dependencies: ["Primitives", "MemorySearch", "Keys", "KeySchemes", "SecureMemory", "COpenSSL"],
      path: "Tests/Vault/KeysTests", swiftSettings: strict),
    // Readers are tested through the real `whorl-reader` process.
    .testTarget(
      name: "ReaderTests",
      dependencies: [
        "ReaderClient", "ReaderBus", "Confinement", "Processes", "SDBus", "SecureMemory", "Fingerprint",
        "VirtualFinger", "ProgramDriver", "Introspection",
      ],
      path: "Tests/Reader/ReaderTests", swiftSettings: strict),
    .testTarget(
      name: "VirtualFingerTests", dependencies: ["VirtualFinger", "Fingerprint", "Processes", "ReaderClient"],
      path: "Tests/Support/VirtualFingerTests", swiftSettings: strict),
    .testTarget(
      name: "VaultTests",
      dependencies: [
        "Vault", "SecretModel", "Keys", "SecureMemory", "Fingerprint", "ReaderClient", "VirtualFinger", "VaultDriver",
        "ProgramDriver",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Vault/VaultTests", swiftSettings: strict),
    // A vault as a program starts it: the real `whorld` process.
    .testTarget(
      name: "PrivateVaultTests",
      dependencies: [
        "Executors", "Fingerprint", "PrivateVault", "Processes", "ProgramDriver", "SecretModel", "SecureMemory",
      ],
      path: "Tests/Vault/PrivateVaultTests", swiftSettings: strict),
    .testTarget(
      name: "VaultBusTests",
      dependencies: [
        "CLinux", "VaultBus", "VaultHost", "Vault", "SecretModel", "SecureMemory", "KeySchemes", "SDBus", "Fingerprint",
        "VaultDriver", "Introspection",
      ],
      path: "Tests/Vault/VaultBusTests", swiftSettings: strict),
    // The service in this process: many users' stores behind a listening socket, and how clients find it.
    .testTarget(
      name: "VaultHostTests",
      dependencies: [
        "Fingerprint", "Keys", "Processes", "SecretModel", "SecureMemory", "SystemVault", "Vault", "VaultBus",
        "VaultDriver", "VaultHost", "Whorl",
      ],
      path: "Tests/Vault/VaultHostTests", swiftSettings: strict),
    .testTarget(
      name: "SystemPolicyTests", dependencies: ["SystemPolicy", "SecretModel", "SDBus", "Processes", "ProgramDriver"],
      path: "Tests/Vault/SystemPolicyTests", swiftSettings: strict),
    .testTarget(
      name: "SecurityTests",
      dependencies: [
        "Security", "Whorl", "Vault", "Keys", "SecureMemory", "Fingerprint", "VaultDriver",
        "VirtualFinger",
      ],
      path: "Tests/Client/SecurityTests", swiftSettings: strict),
    // Code as articles print it, in the language mode it was written in.
    .testTarget(
      name: "SecurityClientTests", dependencies: ["LocalAuthentication", "Security", "Whorl", "Vault", "VaultDriver"],
      path: "Tests/Client/SecurityClientTests", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "LocalAuthenticationTests",
      dependencies: [
        "LocalAuthentication", "Security", "Whorl", "Vault", "Fingerprint", "SecureMemory", "ReaderClient",
        "VaultDriver", "VirtualFinger",
      ],
      path: "Tests/Client/LocalAuthenticationTests", swiftSettings: strict),
    // The library over vaults that end and programs that are missing.
    .testTarget(
      name: "WhorlTests",
      dependencies: [
        "Whorl", "SecretModel", "SecureMemory", "VaultBus", "VaultHost", "VaultDriver", "ProgramDriver",
      ],
      path: "Tests/Client/WhorlTests", swiftSettings: strict),
    // What the product for clients' tests promises, with its public interface alone.
    .testTarget(
      name: "WhorlTestingTests",
      dependencies: ["WhorlTesting", "Whorl", "LocalAuthentication", "KeychainServices", "VaultDriver"],
      path: "Tests/Client/WhorlTestingTests", swiftSettings: strict),
    // The built programs, driven as a user drives them; and the promises about the package itself.
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "Primitives", "Confinement", "ProgramDriver", "VirtualFinger", "Fingerprint", "Vault", "SecureMemory",
        "ReaderClient",
      ],
      path: "Tests/Programs/CommandLineTests", swiftSettings: strict),
    // The promises, attacked: kills, faults, restores, crowds.
    .testTarget(
      name: "HardeningTests",
      dependencies: [
        "ProgramDriver", "VaultDriver", "MemorySearch", "Vault", "Keys", "SecureMemory", "Fingerprint",
        "ReaderClient", "Executors",
        "VirtualFinger",
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      path: "Tests/Programs/HardeningTests", swiftSettings: strict),
    .testTarget(name: "PackageTests", path: "Tests/PackageTests", swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
