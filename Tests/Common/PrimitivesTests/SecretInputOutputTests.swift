internal import Glibc
internal import Primitives
internal import Testing

/// A pipe. Each end is closed once.
private final class Pipe: @unchecked Sendable {  // only one task closes the descriptors
  let reading: Int32
  private(set) var writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    closeWriting()
  }

  func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  func put(_ text: String) { put(Array(text.utf8)) }

  func put(_ bytes: [UInt8]) {
    precondition(write(writing, bytes, bytes.count) == bytes.count)
  }
}

/// Runs blocking work on its own thread, because a blocked task would occupy one of the few threads that run all tests.
private func onThread(_ body: @escaping @Sendable () -> Void) {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  // Passed retained; the thread takes over the reference exactly once.
  let work = Unmanaged.passRetained(Work(body)).toOpaque()
  let result = pthread_create(
    &thread, nil,
    { work in
      if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body() }
      return nil
    }, work)
  precondition(result == 0)
  pthread_detach(thread)
}

/// Copies the secret out: a `SecretBytes` fits neither into `Result` nor through `#expect(throws:)`.
private func read(_ pipe: Pipe, limit: Int) -> Result<[UInt8], ReadError> {
  do { return .success(bytes(of: try SecretBytes.read(from: pipe.reading, limit: limit))) } catch {
    return .failure(error)
  }
}

private func readLine(_ pipe: Pipe, limit: Int = 100) -> Result<String, ReadError> {
  do {
    let line = try SecretBytes.readLine(from: pipe.reading, limit: limit)
    return .success(String(decoding: bytes(of: line), as: UTF8.self))
  } catch { return .failure(error) }
}

@Suite struct SecretInputTests {
  @Test("the whole input of a secret is read, byte for byte", arguments: [0, 1, 255, 256, 257, 4096, 60_000])
  func reads(count: Int) {
    let pipe = Pipe()
    pipe.put(pattern(count))
    pipe.closeWriting()
    #expect(read(pipe, limit: 60_000) == .success(pattern(count)))
  }

  @Test("a secret of a mebibyte is read completely through a pipe with a smaller buffer", .timeLimit(.minutes(1)))
  func readsLarge() {
    let pipe = Pipe()
    onThread {
      #expect(throws: Never.self) { try SecretBytes(copying: pattern(1 << 20).span).write(to: pipe.writing) }
      pipe.closeWriting()
    }
    #expect(read(pipe, limit: 1 << 20) == .success(pattern(1 << 20)))
  }

  @Test("a secret's input of exactly the limit is read; one byte more is too long", arguments: [0, 1, 255, 256, 1000])
  func limits(limit: Int) {
    let exact = Pipe()
    exact.put(pattern(limit))
    exact.closeWriting()
    #expect(read(exact, limit: limit) == .success(pattern(limit)))
    let over = Pipe()
    over.put(pattern(limit + 1))
    over.closeWriting()
    #expect(read(over, limit: limit) == .failure(.tooLong(limit: limit)))
  }

  @Test("a huge limit for a secret's input does not reserve memory in advance")
  func noLimit() {
    let pipe = Pipe()
    pipe.put("x")
    pipe.closeWriting()
    #expect(read(pipe, limit: .max) == .success(Array("x".utf8)))
  }

  @Test("reading a secret from a non-blocking descriptor waits for input", .timeLimit(.minutes(1)))
  func nonBlocking() {
    let pipe = Pipe()
    _ = fcntl(pipe.reading, F_SETFL, O_NONBLOCK)
    var byte: UInt8 = 0
    #expect(Glibc.read(pipe.reading, &byte, 1) == -1 && errno == EAGAIN)
    onThread {
      for part in ["very ", "late"] {
        usleep(100_000)
        pipe.put(part)
      }
      pipe.closeWriting()
    }
    #expect(read(pipe, limit: 10) == .success(Array("very late".utf8)))
  }

  @Test("reading or writing a secret with a bad descriptor is an error with its errno")
  func badDescriptor() {
    #expect(throws: ReadError.system(EBADF)) { _ = try SecretBytes.read(from: -1, limit: 10).count }
    #expect(throws: ReadError.system(EBADF)) { _ = try SecretBytes.readLine(from: -1, limit: 10).count }
    #expect(throws: WriteError.system(EBADF)) { try SecretBytes(count: 1).write(to: -1) }
  }
}

@Suite struct SecretLineTests {
  @Test("secrets in lines are read one by one, and the rest stays for the next reader")
  func lines() {
    let pipe = Pipe()
    pipe.put("old passcode\n\nnew\r\nand the rest\nof it")
    pipe.closeWriting()
    #expect(readLine(pipe) == .success("old passcode"))
    #expect(readLine(pipe) == .success(""))
    #expect(readLine(pipe) == .success("new\r"))
    #expect(read(pipe, limit: 100) == .success(Array("and the rest\nof it".utf8)))
  }

  @Test("a secret's last line may lack its newline, and reading after it reports the end of input")
  func lastLine() {
    let pipe = Pipe()
    pipe.put("last")
    pipe.closeWriting()
    #expect(readLine(pipe) == .success("last"))
    #expect(readLine(pipe) == .failure(.endOfInput))
  }

  @Test("a secret's line of exactly the limit is read; a longer one is too long")
  func limits() {
    let pipe = Pipe()
    pipe.put("12345\n123456\n")
    #expect(readLine(pipe, limit: 5) == .success("12345"))
    #expect(readLine(pipe, limit: 5) == .failure(.tooLong(limit: 5)))
  }

  @Test("a secret's line is returned before the input ends", .timeLimit(.minutes(1)))
  func doesNotWaitForTheEnd() {
    let pipe = Pipe()
    pipe.put("passcode\n")
    #expect(readLine(pipe) == .success("passcode"))
  }
}

@Suite struct SecretOutputTests {
  @Test("writing a secret to a closed pipe is an error and does not kill the process")
  func closed() async {
    // In a new process, where SIGPIPE certainly has its default action of killing the process.
    await #expect(processExitsWith: .success) {
      signal(SIGPIPE, SIG_DFL)
      var ends: [Int32] = [-1, -1]
      pipe(&ends)
      close(ends[0])
      for _ in 0..<3 {
        #expect(throws: WriteError.closed) { try SecretBytes(count: 10).write(to: ends[1]) }
      }
      var blocked = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &blocked)
      #expect(sigismember(&blocked, SIGPIPE) == 0, "the signal stayed blocked")
    }
  }

  @Test("writing a secret to a full non-blocking pipe waits until everything is written", .timeLimit(.minutes(1)))
  func partialWrites() {
    let pipe = Pipe()
    _ = fcntl(pipe.writing, F_SETFL, O_NONBLOCK)
    onThread {
      #expect(throws: Never.self) { try SecretBytes(copying: pattern(300_000).span).write(to: pipe.writing) }
      pipe.closeWriting()
    }
    // Give the writer time to fill the pipe.
    usleep(100_000)
    #expect(read(pipe, limit: 1 << 20) == .success(pattern(300_000)))
  }

  @Test("an empty secret writes nothing")
  func empty() {
    let pipe = Pipe()
    #expect(throws: Never.self) { try SecretBytes(count: 0).write(to: pipe.writing) }
    pipe.closeWriting()
    #expect(read(pipe, limit: 10) == .success([]))
  }
}
