package import Fingerprint
internal import Processes

extension FprintdPlace {
  /// How the readers of this fprintd are driven. The reader process and its client each determine this independently.
  ///
  /// Only the fprintd on the system bus has physical readers; one at a configured place is for tests. In a user
  /// namespace other than the initial one, the user who made it decides what is at `/run/dbus` and who is root there.
  package var nature: ReaderDescription.Nature { nature(inInitialUserNamespace: UserNamespace.isInitial) }

  package func nature(inInitialUserNamespace isInitial: Bool) -> ReaderDescription.Nature {
    self == .system && isInitial ? .physical : .virtual
  }
}
