/// Access groups: the name spaces in which programs keep their items, told apart by `kSecAttrAccessGroup`.
///
/// A group is a name, not a wall: any program of the user can name any group.
public enum AccessGroup {
  /// The group of the command line's items, which every program's reads see after its own.
  public static let commandLine = "whorl"
  /// The group of the items that programs keep with the Secret Service.
  package static let secretService = "org.freedesktop.secrets"
}
