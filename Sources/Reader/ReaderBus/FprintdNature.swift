package import Fingerprint
internal import Processes

extension FprintdPlace {
  /// How the readers of this fprintd are driven. Both sides decide it for themselves.
  ///
  /// Only the machine's own fprintd has physical readers. One that a configuration puts elsewhere is a stand-in. In a
  /// user namespace other than the initial one, whoever made it chooses what lies at `/run/dbus` and who is root there.
  package var nature: ReaderDescription.Nature { nature(inInitialUserNamespace: UserNamespace.isInitial) }

  package func nature(inInitialUserNamespace isInitial: Bool) -> ReaderDescription.Nature {
    self == .system && isInitial ? .physical : .virtual
  }
}
