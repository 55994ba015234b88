import ArgumentParser
import CommandBase
import Glibc
internal import Prompts
internal import SecretModel
import Settings

/// The shell completions for `--program`.
protocol SecretServicePrograms {
  static var completion: CompletionKind { get }
}

/// Any program may be given a rule.
enum AnyProgram: SecretServicePrograms {
  static var completion: CompletionKind { .file() }
}

/// Only programs with a rule.
enum ProgramWithRule: SecretServicePrograms {
  static var completion: CompletionKind { .secretServicePrograms }
}

/// The options that select whose rule changes: a collection, a program, or items.
struct SecretServiceTarget<Programs: SecretServicePrograms>: ParsableArguments {
  @Argument(
    help: ArgumentHelp("Items, by label or id; capitals do not matter.", valueName: "label"),
    completion: .secretServiceLabels)
  var labels: [String] = []

  @Option(
    help: ArgumentHelp("A collection, by name or label: its items, and new ones.", valueName: "name"),
    completion: .secretServiceCollections)
  var collection: String?

  @Option(
    help: ArgumentHelp("A program: what it stores from now on, and whatever it reads.", valueName: "path"),
    completion: Programs.completion)
  var program: String?

  @Option(
    help: ArgumentHelp("The same as LABEL; can be given several times.", valueName: "label"),
    completion: .secretServiceLabels)
  var item: [String] = []

  @Option(
    help: ArgumentHelp(
      "The items with this attribute; given several times, those with all of them.", valueName: "name=value"))
  var attribute: [String] = []

  func validate() throws {
    let given = [collection != nil, program != nil, !(labels + item).isEmpty, !attribute.isEmpty].count { $0 }
    guard given == 1 else {
      throw ValidationError("Name items by their labels, or give one of --collection, --program and --attribute.")
    }
    guard attribute.allSatisfy({ $0.dropFirst().contains("=") }) else {
      throw ValidationError("--attribute takes NAME=VALUE.")
    }
    if let program, !program.hasPrefix("/") { throw ValidationError("--program takes a full path.") }
  }

  func named(in contents: SecretServiceContents) throws(Failure) -> SecretServiceNamed {
    if let collection {
      guard let folder = contents.collection(called: collection) else {
        throw .nothing("no collection \(collection)")
      }
      return .collection(folder, contents.items.filter { $0.collection == folder.name })
    }
    if let program {
      let path = Self.resolved(program)
      return .program(contents.programs.first { $0.name == path } ?? SecretServiceFolder(.program, path))
    }
    guard attribute.isEmpty else {
      let wanted = attribute.map { $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
      let found = contents.items.filter { item in
        wanted.allSatisfy { item.attributes[String($0[0])] == String($0[1]) }
      }
      guard !found.isEmpty else { throw .nothing("no item with \(attribute.joined(separator: ", "))") }
      return .items(found)
    }
    var items: [SecretServiceItem] = []
    for word in labels + item {
      let found = Self.items(called: word, in: contents)
      guard let only = found.first else { throw .nothing("no item \(word)") }
      guard found.count == 1 else { throw Self.several(found, called: word) }
      if !items.contains(only) { items.append(only) }
    }
    return .items(items)
  }

  /// The item with this id, or else the items with this label, if necessary ignoring case.
  private static func items(called word: String, in contents: SecretServiceContents) -> [SecretServiceItem] {
    let exact = contents.items.filter { $0.id == ItemID(spoken: word) || $0.label == word }
    guard exact.isEmpty else { return exact }
    return contents.items.filter { $0.label.lowercased() == word.lowercased() }
  }

  /// Lists the items with a label, each with an unambiguous id.
  private static func several(_ items: [SecretServiceItem], called word: String) -> Failure {
    StandardError.line("\(Visible.text(word)) means \(items.count) items:")
    for item in items {
      let attributes = item.attributes.isEmpty ? "" : " (\(item.spokenAttributes))"
      StandardError.line("  \(item.id.spoken)  \(Visible.text("\(item.collection): \(item.label)\(attributes)"))")
    }
    return .usage("\(word) means several items, which are listed above", advice: "name one by its id")
  }

  /// The path as the kernel names the executable: without symbolic links. A path that does not exist here stays as it
  /// is, since it may exist in a sandbox.
  private static func resolved(_ path: String) -> String {
    // realpath: the result is ours to free
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(validatingCString: real) ?? path
  }
}

extension Failure {
  fileprivate static func nothing(_ what: String) -> Failure {
    Failure(
      .notFound, what, name: "errSecItemNotFound", advice: "'whorl secret-service list' lists what there is")
  }
}
