/// The algorithm by which a repository names its objects.
enum ObjectFormat: String, CaseIterable {
  case sha1, sha256

  var other: ObjectFormat { self == .sha1 ? .sha256 : .sha1 }

  /// The number of hexadecimal digits of a name.
  private var digits: Int { self == .sha1 ? 40 : 64 }

  /// The format that a name is of.
  init?(of name: String) {
    guard let format = Self.allCases.first(where: { $0.digits == name.utf8.count }) else { return nil }
    self = format
  }

  /// The empty tree, which every repository has.
  var emptyTree: String {
    switch self {
    case .sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    case .sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    }
  }

  /// The name of an object at the start of a line; nil if there is none.
  static func name(at line: some Sequence<UInt8>) -> String? {
    let digits = line.prefix { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    let name = String(decoding: Array(digits), as: UTF8.self)
    return ObjectFormat(of: name) == nil ? nil : name
  }
}
