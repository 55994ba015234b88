// Translation: the sentences of the programs in the language of the session (gettext). Begin with `Text`.

internal import CLinux
internal import Glibc
internal import Synchronization

/// The sentences that a person reads, in the language of the session: gettext, with the domain `whorl`.
///
/// Only a program that has called ``begin()`` translates. In all others, such as the command line and the vault, and without
/// a translation, a text is what the source says. Each text is a whole literal, which `scripts/translations` finds; names and
/// numbers in it are places in braces, which are filled after the translation was looked up.
package enum Text {
  package static let domain = "whorl"
  private static let isBegun = Atomic(false)

  /// Chooses the language of the session. For the beginning of a `main`, when there is no other thread.
  ///
  /// The language is the environment's to choose, and the folder of the catalogues is not: it is that of this program's
  /// prefix, which only those can change who can change the program.
  package static func begin() {
    guard let folder = catalogues else { return }
    // gettext uses a language of this list as a part of a path.
    if let languages = unsafe getenv("LANGUAGE"), !isList(unsafe String(cString: languages)) {
      unsafe unsetenv("LANGUAGE")
    }
    // setlocale, bindtextdomain: what they return belongs to the C library. A locale that is not there leaves English.
    unsafe setlocale(LC_MESSAGES, "")
    unsafe bindtextdomain(domain, folder)
    unsafe bind_textdomain_codeset(domain, "UTF-8")
    isBegun.store(true, ordering: .releasing)
  }

  /// The translation of a text.
  package static func of(_ text: StaticString) -> String { translation(text) }

  /// The translation of a text with places.
  ///
  /// - Parameter places: what stands in each place. A translation that has other places than the text is not used.
  package static func of(_ text: StaticString, _ places: [String: String]) -> String {
    filled(translation(text), or: text.description, places)
  }

  /// The translation of a text that depends on a number, which stands in the place `count`.
  ///
  /// - Parameters:
  ///   - one, many: the English text for 1, and for all other numbers. The first one may lack the place.
  package static func plural(
    _ one: StaticString, _ many: StaticString, _ count: Int, _ places: [String: String] = [:]
  ) -> String {
    let places = places.merging(["count": "\(count)"]) { $1 }
    let english = count == 1 ? one : many
    guard isBegun.load(ordering: .acquiring), one.hasPointerRepresentation, many.hasPointerRepresentation else {
      return filled(english.description, or: english.description, places)
    }
    // dngettext: returns one of its arguments, which are terminated and constant, or a text that stays.
    let found = unsafe one.utf8Start.withMemoryRebound(to: CChar.self, capacity: one.utf8CodeUnitCount + 1) { one in
      unsafe many.utf8Start.withMemoryRebound(to: CChar.self, capacity: many.utf8CodeUnitCount + 1) { many in
        unsafe dngettext(domain, one, many, UInt(count.magnitude)).map { unsafe String(cString: $0) }
      }
    }
    return filled(found ?? english.description, or: english.description, places, mayLack: "count")
  }

  // MARK: Looking up

  private static func translation(_ text: StaticString) -> String {
    guard isBegun.load(ordering: .acquiring), text.hasPointerRepresentation else { return text.description }
    // dgettext: returns its argument, which is terminated and constant, or a text that stays.
    return unsafe text.utf8Start.withMemoryRebound(to: CChar.self, capacity: text.utf8CodeUnitCount + 1) {
      unsafe dgettext(domain, $0).map { unsafe String(cString: $0) }
    } ?? text.description
  }

  /// The folder of the catalogues in the prefix of this program: `PREFIX/bin/whorl-gtk` has them in `PREFIX/share/locale`.
  private static var catalogues: String? {
    let path = unsafe [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      // readlink: writes no terminator
      count = unsafe buffer.baseAddress.map { max(0, unsafe readlink("/proc/self/exe", $0, buffer.count)) } ?? 0
    }
    let folders = path.split(separator: UInt8(ascii: "/")).dropLast(2)
    guard path.first == UInt8(ascii: "/") else { return nil }
    return "/" + (folders.map { String(decoding: $0, as: UTF8.self) } + ["share", "locale"]).joined(separator: "/")
  }

  /// Whether a value of `LANGUAGE` is a list of languages, and none of them a path.
  static func isList(_ languages: String) -> Bool {
    languages.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "@"),
        UInt8(ascii: ":"), UInt8(ascii: "."):
        true
      default: false
      }
    } && !languages.hasBytes(of: "..")
  }

  // MARK: Places

  /// A piece of a text: words, or the name of a place.
  private enum Piece: Hashable {
    case words(Substring)
    case place(Substring)
  }

  /// The text with its places filled. A value is not searched for places.
  ///
  /// - Parameters:
  ///   - english: used if the text has other places. Its own are those of the values, which the source gives.
  ///   - spare: a place that a text may lack.
  static func filled(
    _ text: String, or english: String, _ places: [String: String], mayLack spare: String? = nil
  ) -> String {
    let spare = spare.map { [$0[...]] } ?? []
    var pieces = pieces(of: text)
    if names(in: pieces).union(spare) != names(in: Self.pieces(of: english)).union(spare) {
      pieces = Self.pieces(of: english)
    }
    return pieces.map { piece in
      switch piece {
      case .words(let words): String(words)
      case .place(let name): places[String(name)] ?? "{\(name)}"
      }
    }.joined()
  }

  private static func names(in pieces: [Piece]) -> Set<Substring> {
    Set(pieces.compactMap { if case .place(let name) = $0 { name } else { nil } })
  }

  private static func pieces(of text: String) -> [Piece] {
    var pieces: [Piece] = []
    var rest = text[...]
    while let start = rest.firstIndex(of: "{"), let end = rest[start...].firstIndex(of: "}") {
      pieces.append(.words(rest[..<start]))
      pieces.append(.place(rest[rest.index(after: start)..<end]))
      rest = rest[rest.index(after: end)...]
    }
    return pieces + [.words(rest)]
  }
}
