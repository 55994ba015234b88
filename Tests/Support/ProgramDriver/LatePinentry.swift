import Glibc

/// A pinentry for tests whose vault ends while it asks: its first question is not answered, and each later one with the
/// passcode.
package enum LatePinentry {
  /// Makes the folder `asked` beside itself at the first question. It is found by the first folder of PATH.
  package static let script = """
    #!/bin/sh
    echo OK
    while read -r word rest; do
      case $word in
        GETPIN) mkdir "${PATH%%:*}/asked" 2>/dev/null && exec sleep 60; echo "D \(TestStore.passcode)" ;;
      esac
      echo OK
    done

    """

  /// Writes it as the folder's `pinentry`.
  package static func write(in folder: String) throws {
    let program = "\(folder)/pinentry"
    try writeFile(program, Array(script.utf8))
    chmod(program, 0o700)
  }
}
