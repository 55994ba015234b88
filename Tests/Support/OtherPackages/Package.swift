// swift-tools-version: 6.2
import PackageDescription

// A server's package that has Whorl beside the usual packages for TLS and HTTP. `OtherPackagesTests` builds it.
let package = Package(
  name: "other-packages",
  dependencies: [
    .package(name: "whorl", path: "../../.."),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .executableTarget(
      name: "other-packages",
      dependencies: [
        .product(name: "LocalAuthentication", package: "whorl"),
        .product(name: "KeychainServices", package: "whorl"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ])
  ]
)
