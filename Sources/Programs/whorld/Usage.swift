internal import Glibc

/// The program's messages on the command line.
enum Usage {
  static let help = """
    OVERVIEW: The vault of Whorl: holds the keys and the stores, and releases a secret after what its rule asks for.

    Programs that use Whorl start whorld themselves, one for each connection. There is no reason to start it by hand.

    USAGE: whorld --private | --system

    OPTIONS:
      --private   Serve the client at the other end of the socket that is descriptor 0, over D-Bus
                  (org.whorl.Vault1), and end with it. The client has to be the program that starts whorld.
      --system    Serve all users of the machine, each with a store of their own in /var/lib/whorl, at the socket
                  /run/whorl/bus that systemd passes. Runs as a user of its own, and starts whorld once more for each
                  user who connects (as 'whorld --of USER'), so that a crash closes one user's store.
      --help      Show this help.

    Environment variables are ignored, but for those in which systemd passes a socket and credentials.

    FILES:
      /etc/whorl/whorld.conf   The settings of the service: lines 'name = value'. 'reader' names the readers of all
                               stores, as whorl's --reader does. Without it they are those of fprintd and those that
                               libfprint drives, through the units whorl-reader-fprintd and whorl-reader-libfprint; a
                               virtual reader has to be named here.
                               'passcode-length' is the fewest characters of a new passcode (4),
                               'require-passcode-after-boot' yes or no: whether the passcode opens a store after each
                               start (yes), and 'enrol' users or administrators: who may enrol fingers (users).
                               'tpm' is auto, no or a device: which TPM holds the keys of new stores (auto: that of the
                               machine, if it has one). 'credential' is auto, yes or no: whether the keys are sealed
                               under a credential of systemd, whorl-key (auto: where there is one, and no TPM).

    EXIT STATUS:
      0    the connection has ended
      64   wrong arguments, no socket, or the client has ended already
      78   the settings of the service cannot be used
    """

  /// Ends the program with a line on standard error.
  static func fail(_ problem: String, status: Int32 = 64) -> Never {
    line(problem)
    exit(status)
  }

  /// A line on standard error, which is the journal if systemd has started the program.
  static func line(_ text: String) {
    let line = "whorld: \(text)\n"
    // write: reads as many bytes as it is told
    _ = line.utf8.withContiguousStorageIfAvailable { write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}
