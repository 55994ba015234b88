import Foundation
import LocalAuthentication
import Synchronization
import Testing
import Whorl

@Suite("Replies of evaluatePolicy: threads and nested calls")
struct ReplyTests {
  @Test("evaluatePolicy calls its reply once, on another thread, where canEvaluatePolicy does not deadlock")
  func privateQueue() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.press(.rightIndex)])
    let context = machine.context(person)
    let caller = Mutex<UInt>(0)
    let calls = Mutex(0)
    let (reply, problem) = await withCheckedContinuation { continuation in
      let thread = Thread {
        caller.withLock { $0 = UInt(pthread_self()) }
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, error in
          calls.withLock { $0 += 1 }
          #expect(success && error == nil)
          let problem = context.problem(.deviceOwnerAuthenticationWithBiometrics)
          continuation.resume(returning: (UInt(pthread_self()), problem))
        }
        // Keep the caller's thread alive, so that its id is not reused.
        Thread.sleep(forTimeInterval: 1)
      }
      thread.start()
    }
    #expect(problem == nil)
    #expect(reply != caller.withLock { $0 })
    try await Task.sleep(for: .milliseconds(200))
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("a reply of evaluatePolicy may start another evaluation of its own context")
  func nested() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.cancel, .press(.rightIndex)])
    let context = machine.context(person)
    let second = await withCheckedContinuation { continuation in
      context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, _ in
        #expect(!success)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, _ in
          continuation.resume(returning: success)
        }
      }
    }
    #expect(second)
  }

  @Test("a reply of evaluatePolicy may wait for another evaluation of its own context")
  func waiting() async throws {
    let machine = try await Machine()
    let person = PersonAtPrompt(machine, [.cancel, .press(.rightIndex)])
    let context = machine.context(person)
    let second = await withCheckedContinuation { continuation in
      context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { _, _ in
        let ended = DispatchSemaphore(value: 0)
        let succeeded = Mutex(false)
        context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, _ in
          succeeded.withLock { $0 = success }
          ended.signal()
        }
        let isOver = ended.wait(timeout: .now() + .seconds(20)) == .success
        continuation.resume(returning: isOver && succeeded.withLock { $0 })
      }
    }
    #expect(second)
  }

  @Test("canEvaluatePolicy returns even when called on every thread of the caller's pools at once")
  func crowded() async throws {
    let machine = try await Machine()
    let context = machine.context(PersonAtPrompt(machine))
    let answers = await withTaskGroup(of: Bool.self) { group in
      for _ in 1...16 { group.addTask { context.problem(.deviceOwnerAuthenticationWithBiometrics) == nil } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: true, count: 16))
    let queued = await withCheckedContinuation { continuation in
      let queue = DispatchQueue.global()
      let group = DispatchGroup()
      let count = Mutex(0)
      for _ in 1...32 {
        queue.async(group: group) {
          if context.problem(.deviceOwnerAuthenticationWithBiometrics) == nil { count.withLock { $0 += 1 } }
        }
      }
      group.notify(queue: .main) { continuation.resume(returning: count.withLock { $0 }) }
    }
    #expect(queued == 32)
  }

  @Test("an LAContext without references still calls the reply of evaluatePolicy")
  func letGo() async throws {
    let machine = try await Machine()
    let success = await withCheckedContinuation { continuation in
      machine.context(PersonAtPrompt(machine, [.press(.rightIndex)]))
        .evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see") { success, _ in
          continuation.resume(returning: success)
        }
    }
    #expect(success)
  }

  @Test("a subclass of LAContext that overrides evaluatePolicy with a reply changes the async form too")
  func overridden() async throws {
    final class Approving: LAContext, @unchecked Sendable {
      override func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String, reply: @escaping (Bool, (any Error)?) -> Void
      ) { reply(true, nil) }
      override var biometryType: LABiometryType { .faceID }
    }
    let context = Approving()
    #expect(try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "see"))
    #expect(context.biometryType == .faceID)
  }
}
