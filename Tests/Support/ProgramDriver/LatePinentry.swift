import Glibc

/// A pinentry for tests whose vault ends during a question: does not answer its first question, and answers each later
/// one with the passcode.
package enum LatePinentry {
  /// Makes the folder `asked` at the first question, in its own folder, which is the first one in PATH.
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
