package import Primitives
package import SDBus

/// Serves a ``FingerprintReader`` to one peer as `org.whorl.Reader1`: the D-Bus object of the reader process, and of a
/// reader that the system service lends.
///
/// It runs on the bus loop and passes each call to the reader before it reads the next one, so that calls keep their
/// order, such as a scan and the suspend that follows it.
package actor ReaderObject {
  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let reader: any FingerprintReader
  private let observers: [any ReaderUseObserver]
  /// The unanswered calls, by the numbers that the caller chose.
  private var running: [UInt64: Task<Void, Never>] = [:]
  /// The finger of the last call, if that enrolled one, and the call's number.
  private var enrolled: (call: UInt64, template: Template)?

  package init(serving reader: any FingerprintReader, observers: [any ReaderUseObserver] = []) {
    self.reader = reader
    self.observers = observers
  }

  /// For ``BusConnection/Handlers/call``, which is called on the loop.
  package nonisolated func handle(_ call: BusCall) {
    assumeIsolated { $0.begin(call) }
  }

  /// For ``BusConnection/Handlers/closed``, if the reader outlives its peer: cancels running calls.
  package nonisolated func connectionEnded() {
    assumeIsolated { for call in $0.running.values { call.cancel() } }
  }

  private func begin(_ call: BusCall) {
    guard call.path == ReaderInterface.target.path, call.interface == ReaderInterface.target.interface,
      let method = ReaderInterface.Method(rawValue: call.member)
    else { return call.fail("org.freedesktop.DBus.Error.UnknownMethod", "no such member") }
    guard call.signature == method.arguments, let number = call.arguments.first?.asIdentifier(UInt64.self),
      let request = ReaderRequest(method, call.arguments.dropFirst())
    else { return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "takes \(method.arguments)") }
    if case .cancel = request { return cancel(number, for: call) }
    guard running[number] == nil else {
      return call.fail("org.freedesktop.DBus.Error.InvalidArgs", "this call's number is in use")
    }
    enrolled = nil
    for observer in observers { observer.callBegan() }
    var hasEnded = false
    let task = Task.immediate(executorPreference: LoopTasks.shared) {
      do throws(ReaderError) {
        call.answer(try await perform(request, number, for: call).values)
      } catch {
        call.fail(error.busName, error.busText)
      }
      hasEnded = true
      running[number] = nil
      for observer in observers { observer.callEnded() }
    }
    // A call that never waited has ended already.
    if !hasEnded { running[number] = task }
  }

  /// Answers after the cancelled call, so that the peer knows that the reader is free. If an enrolment had succeeded
  /// before the cancellation arrived, deletes its finger, because the peer ignores the answer.
  private func cancel(_ number: UInt64, for call: BusCall) {
    let task = running[number]
    task?.cancel()
    Task(executorPreference: LoopTasks.shared) {
      await task?.value
      await self.discardFinger(of: number)
      call.answer()
    }
  }

  private func discardFinger(of number: UInt64) async {
    guard let enrolled, enrolled.call == number else { return }
    self.enrolled = nil
    try? await reader.delete(enrolled.template)
  }

  private func perform(
    _ request: ReaderRequest, _ number: UInt64, for call: BusCall
  ) async throws(ReaderError) -> ReaderAnswer {
    let connection = call.connection
    let observer: ScanObserver = {
      connection.emit(ReaderInterface.target, ReaderInterface.scanSignal, $0.busValues(call: number))
    }
    switch request {
    case .readers: return .readers(try await reader.readers())
    case .open(let id, let user):
      let description = try await reader.open(id, for: user)
      for observer in observers { observer.readerOpened() }
      return .reader(description)
    case .prepare: return .reader(try await reader.prepare())
    case .close:
      defer { for observer in observers { observer.readerClosed() } }
      try await reader.close()
    case .enroll(let finger):
      let template = try await reader.enroll(as: finger, observer: observer)
      enrolled = (number, template)
      return .template(template)
    case .identify(let prints, let nonce):
      return .scan(try await reader.identify(prints, nonce: nonce, observer: observer))
    case .verify(let print, let nonce):
      return .scan(try await reader.verify(print, nonce: nonce, observer: observer))
    case .capture(let includingImage):
      return .capture(try await reader.capture(includingImage: includingImage, observer: observer))
    case .storedPrints(let prints): return .chip(try await reader.storedPrints(knowing: prints))
    case .delete(let template): try await reader.delete(template)
    case .clearStorage: try await reader.clearStorage()
    case .suspend: try await reader.suspend()
    case .resume: try await reader.resume()
    case .cancel: break
    }
    return .done
  }
}

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
