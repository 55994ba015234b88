import Foundation

/// The description of the package that `swift package dump-package` prints.
struct PackageDescription: Decodable {
  let targets: [Target]
  let products: [Product]

  struct Product: Decodable {
    let name: String
    let targets: [String]
  }

  struct Target: Decodable {
    let name: String
    let type: String
    /// The folder of the target, unless it is the default one.
    let path: String?
    let dependencies: [Dependency]

    /// The targets of this package that it depends on.
    var targetDependencies: [String] { dependencies.compactMap(\.target) }
    /// The products of other packages that it depends on.
    var outsideDependencies: [String] { dependencies.compactMap(\.product) }
  }

  /// `"Name"` and `.target(name:)` are targets of this package. `.product(name:package:)` is a product of another one.
  struct Dependency: Decodable {
    let target: String?
    let product: String?

    private enum Kind: String, CodingKey {
      case byName
      case target
      case product
    }

    init(from decoder: any Decoder) throws {
      let kinds = try decoder.container(keyedBy: Kind.self)
      if let kind = [Kind.byName, .target].first(where: kinds.contains) {
        var fields = try kinds.nestedUnkeyedContainer(forKey: kind)
        target = try fields.decode(String.self)
        product = nil
      } else {
        var fields = try kinds.nestedUnkeyedContainer(forKey: .product)
        target = nil
        product = try fields.decode(String.self)
      }
    }
  }

  /// Described once for all tests: reading a manifest takes seconds.
  static func ofThisPackage() async throws -> PackageDescription { try await thisPackage.value }
  private static let thisPackage = Task { try await of("Package.swift") }

  /// Describes a copy of a manifest in a new folder, because `swift test` holds the lock of the package's folder.
  ///
  /// - Parameter slice: the test target of a slice (`make check`); nil for the whole package.
  static func of(_ path: String, slice: String? = nil) async throws -> PackageDescription {
    try await withTemporaryFolder { folder in
      let manifest = Repository.root.appending(path: path)
      try FileManager.default.copyItem(at: manifest, to: folder.appending(path: "Package.swift"))
      let dump = try await run(
        "swift", "package", "dump-package", in: folder, environment: slice.map { ["WHORL_SLICE": $0] } ?? [:])
      guard dump.status == 0 else { throw Unreadable(reason: dump.errors) }
      return try JSONDecoder().decode(PackageDescription.self, from: Data(dump.output.utf8))
    }
  }

  struct Unreadable: Error {
    let reason: String
  }

  /// The targets of this package that `name` depends on, directly or indirectly.
  func reached(from name: String) -> Set<String> {
    var found: Set<String> = []
    var next = [name]
    while let target = next.popLast() {
      for dependency in targets.first(where: { $0.name == target })?.targetDependencies ?? []
      where found.insert(dependency).inserted {
        next.append(dependency)
      }
    }
    return found
  }
}
