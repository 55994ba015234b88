internal import Glibc
internal import Synchronization

/// What has to be undone before a signal ends this program: files and folders in the making, and programs that would
/// not end by themselves.
///
/// Each is made and entered here in one step, so that a signal comes before both or after both. After the undoing has
/// begun nothing new is made: the thread that wants to waits for the end of the process.
package final class Unfinished: Sendable {
  package static let ofThisProgram = Unfinished()

  /// What was made, and how to forget it once it is finished.
  package struct Entry: Sendable { fileprivate let number: UInt64 }

  private struct State {
    var hasEnded = false
    var last: UInt64 = 0
    var undoing: [(number: UInt64, undo: @Sendable () -> Void)] = []
  }

  private let state = Mutex(State())

  package init() {}

  /// Makes something, and enters how to undo it.
  ///
  /// - Parameters:
  ///   - make: short, since a signal is not heard meanwhile. It must not call this object, and undoes by itself what it
  ///     has made when it throws.
  ///   - undo: does nothing where the thing is gone or finished.
  package func make<Value: Sendable, Problem: Error>(
    _ make: () throws(Problem) -> Value, undo: @escaping @Sendable (Value) -> Void
  ) throws(Problem) -> (value: Value, entry: Entry) {
    let made: Result<(value: Value, entry: Entry), Problem> = state.withLock { state in
      // Every thread blocks the signals that have handlers, so this returns never.
      while state.hasEnded { pause() }
      do throws(Problem) {
        let value = try make()
        state.last += 1
        state.undoing.append((state.last, { undo(value) }))
        return .success((value, Entry(number: state.last)))
      } catch {
        return .failure(error)
      }
    }
    return try made.get()
  }

  /// Forgets what is finished, or was undone otherwise.
  package func forget(_ entry: Entry) {
    state.withLock { state in state.undoing.removeAll { $0.number == entry.number } }
  }

  /// Undoes everything, the last first. Call it only when this program ends next.
  package func undoAll() {
    state.withLock { state in
      state.hasEnded = true
      for each in state.undoing.reversed() { each.undo() }
      state.undoing = []
    }
  }
}
