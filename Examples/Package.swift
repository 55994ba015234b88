// swift-tools-version: 6.2
import PackageDescription

// A separate package, as a client of Whorl writes it: it depends on Whorl on Linux only, so that the same sources build
// with Apple's frameworks on macOS. Yours has a URL and a version in place of the path:
//
//     .package(url: "ADDRESS", from: "0.1.0")
func product(_ name: String) -> Target.Dependency {
  .product(name: name, package: "whorl", condition: .when(platforms: [.linux]))
}

let package = Package(
  name: "examples",
  // Rights are there from here on.
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "whorl", path: "..")],
  targets: [
    .executableTarget(
      name: "bound-secret", dependencies: [product("LocalAuthentication"), product("KeychainServices")],
      path: "BoundSecret"),
    .executableTarget(
      name: "biometry-states", dependencies: [product("LocalAuthentication")], path: "BiometryStates"),
    .executableTarget(name: "sign-in", dependencies: [product("LocalAuthentication")], path: "SignIn"),
    // Linux only: on other systems it prints a message that says so.
    .executableTarget(name: "feature-gate", dependencies: [product("Whorl")], path: "FeatureGate"),
    .executableTarget(
      name: "internet-password", dependencies: [product("LocalAuthentication"), product("KeychainServices")],
      path: "InternetPassword"),
    .executableTarget(
      name: "password-helper", dependencies: [product("LocalAuthentication"), product("KeychainServices")],
      path: "PasswordHelper"),
    .executableTarget(name: "rights", dependencies: [product("LocalAuthentication")], path: "Rights"),
  ],
  // The language mode that most existing code uses; `scripts/examples` builds `rights` in the other one, too.
  swiftLanguageModes: Context.environment["EXAMPLES_SWIFT"] == "6" ? [.v6] : [.v5]
)
