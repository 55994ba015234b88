internal import SDBus
internal import SecretModel

/// Forwards the events of one context to the client.
final class ForwardedEvents {
  let events: ContextEvents
  /// The number of the last event that was sent.
  var sent = 0
  var isFinished = false
  /// Whether the client has closed the context. Its last events may still be on their way.
  var isClosed = false
  /// The memory of the call that has set the context's application password.
  var password: MemoryBudget.Share?
  /// Answers that wait until earlier events have been sent.
  var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ events: ContextEvents) { self.events = events }

  func resumeWaiting() {
    let answers = waiting
    waiting = []
    for answer in answers { answer.resume() }
  }
}

extension VaultObject {
  /// Sends the events of a context to the client until the context is closed.
  func forward(_ events: ContextEvents, of handle: ContextHandle, over connection: BusConnection) {
    let forwarded = ForwardedEvents(events)
    contexts[handle] = forwarded
    Task {
      for await event in events {
        connection.emit(VaultInterface.target, VaultInterface.eventSignal, event.busValues(in: handle))
        forwarded.sent = event.number
        forwarded.resumeWaiting()
      }
      forwarded.isFinished = true
      forwarded.resumeWaiting()
      contexts[handle] = nil
    }
  }

  /// Waits until every event so far has been sent, since the events of a call must precede its answer.
  func eventsAreSent() async {
    for forwarded in contexts.values {
      let last = forwarded.events.lastNumber
      while forwarded.sent < last, !forwarded.isFinished {
        await withCheckedContinuation { forwarded.waiting.append($0) }
      }
    }
  }
}
