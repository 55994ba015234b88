internal import Glibc

extension BusConnection {
  /// Calls a method and waits for its answer no longer than this.
  ///
  /// - Throws: `system(ETIMEDOUT)` where no answer came in time. A later answer is dropped.
  package func call(
    _ target: BusTarget, _ member: String, _ arguments: [BusValue] = [], within limit: Duration
  ) async throws(BusError) -> [BusValue] {
    // The task belongs to this actor, so that it runs on the loop and calls keep their order.
    let call = Task.immediate { () -> Result<[BusValue], BusError> in
      do throws(BusError) {
        return .success(try await self.call(target, member, arguments))
      } catch {
        return .failure(error)
      }
    }
    let timer = LoopTimer(after: limit) { call.cancel() }
    defer { timer.cancel() }
    let answer = await withTaskCancellationHandler {
      await call.value
    } onCancel: {
      call.cancel()
    }
    if case .failure(.cancelled) = answer, !Task.isCancelled { throw .system(ETIMEDOUT) }
    return try answer.get()
  }
}
