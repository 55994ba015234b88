/// Observes whether a served reader is in use. Its functions are called on the bus loop.
package protocol ReaderUseObserver: Sendable {
  func callBegan()
  func callEnded()
  func readerOpened()
  func readerClosed()
}

extension ReaderUseObserver {
  package func callBegan() {}
  package func callEnded() {}
}
