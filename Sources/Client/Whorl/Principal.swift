internal import SecretModel

/// The program for which this one makes its calls, for the log of the vault. It is a value of the task, so that no call of
/// a task that serves another program can lack it.
package enum Principal {
  /// Its name for people; nil where this program asks for itself.
  @TaskLocal package static var program: String?
}

extension Asking {
  /// The same, on behalf of the program that this task serves.
  var onBehalf: Asking {
    var asking = self
    asking.behalf = Principal.program
    return asking
  }
}
