import Fingerprint
import ReaderClient
import VaultDriver

/// A reader process that cannot be started: for calls that must not need one.
enum NoReader {
  static var reader: any FingerprintReader {
    ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic)
  }
}
