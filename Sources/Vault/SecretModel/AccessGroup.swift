/// Access groups: the name spaces for programs' items (`kSecAttrAccessGroup`).
///
/// A group is a name and protects nothing: any program of the user can use any group.
public enum AccessGroup {
  /// The group of the command line's items, which every program searches after its own.
  public static let commandLine = "whorl"
  /// The group of the items that programs keep with the Secret Service.
  package static let secretService = "org.freedesktop.secrets"
}
