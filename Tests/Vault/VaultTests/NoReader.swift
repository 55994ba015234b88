import Presence
import Primitives
import ReaderClient
import VaultDriver

/// A desk whose reader process cannot be started: for calls that must not need one.
enum NoReader {
  static var desk: ReaderDesk {
    ReaderDesk(ReaderProcess(program: "/nonexistent/whorl-reader", selection: .automatic))
  }
}
