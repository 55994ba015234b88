// Commands that a person chose: found, checked, and run in place of this program.

import ArgumentParser
import CommandBase
import Glibc
import Primitives
import Processes
import SecretModel
import SessionPrompts
import Settings
import Synchronization
import Whorl

/// A program that replaces this process (`execve`), so that no process with the secrets stays behind.
struct ReplacementProgram {
  private let path: String
  private let arguments: [String]

  /// The command with the path at which its program was found.
  var words: [String] { [path] + arguments.dropFirst() }

  /// Finds the program like a shell, before the person is asked for anything.
  init(_ command: [String]) throws(Failure) {
    arguments = command
    let name = command[0]
    guard !name.isEmpty else { throw Self.notFound("''") }
    guard !name.contains("/") else {
      if let problem = Self.problem(with: name) { throw problem }
      path = name
      return
    }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    var found: Failure?
    for directory in search.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = "\(directory.isEmpty ? "." : directory)/\(name)"
      guard let problem = Self.problem(with: candidate) else {
        path = candidate
        return
      }
      if problem.status == .cannotExecute { found = problem }
    }
    throw found ?? Self.notFound(name)
  }

  private static func problem(with path: String) -> Failure? {
    var information = stat()
    guard stat(path, &information) == 0 else { return notFound(path) }
    guard information.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else {
      return Failure(.cannotExecute, "\(path): cannot be executed", advice: "name a program")
    }
    return nil
  }

  private static func notFound(_ name: String) -> Failure {
    Failure(.commandNotFound, "\(name): command not found", advice: "look at its name and at PATH")
  }

  /// Executes the program. Returns only if that fails.
  ///
  /// - Parameter closing: descriptors with passcodes, which the program must not read.
  func run(with environment: FilledEnvironment, _ hardening: Hardening, closing: [Int32]) -> Failure {
    for descriptor in closing where descriptor > STDERR_FILENO { close(descriptor) }
    // strdup's copies are owned here and end with the exec, or with the process soon after.
    let argv = arguments.map { strdup($0) } + [nil]
    let script = Self.script(path, arguments).map { strdup($0) } + [nil]
    hardening.undo()
    Interruption.undo()
    environment.lend { environment in
      _ = execve(path, argv, environment)
      if errno == ENOEXEC { _ = execve(Self.shell, script, environment) }
    }
    return cannotStart(errno)
  }

  /// Runs the program as a child, and masks the secrets in what it writes. It gets no terminal for its output: only a
  /// pipe goes through this program.
  ///
  /// - Parameter closing: see ``run(with:_:closing:)``.
  /// - Returns: its status, as a shell reports it.
  func run(
    with environment: FilledEnvironment, masking secrets: [SharedSecret], _ hardening: Hardening, closing: [Int32]
  ) async throws(Failure) -> Int32 {
    for descriptor in closing where descriptor > STDERR_FILENO { close(descriptor) }
    let outputs = try MaskedStreams(secrets)
    let command = try Interruption.start { () throws(Failure) in
      try started(with: environment, hardening) { path, words, environment throws(ChildStartError) in
        try ForegroundCommand(path, words, environment: environment, outputs: outputs.ends)
      }
    }
    // What the command has started may keep its output open after its end. A signal then ends this program.
    let end = Task.detached(executorPreference: BackgroundThread()) {
      let ending = command.ending()
      Interruption.hasEnded()
      return ending
    }
    outputs.passOn()
    let ending = await end.value
    if let signal = ending.endingSignal { Interruption.follow(signal) }
    return ending.status
  }

  /// Starts the program as a child without a terminal.
  ///
  /// - Parameter output: the descriptor for everything that it writes.
  func start(
    with environment: FilledEnvironment, output: Int32, _ hardening: Hardening
  ) throws(Failure) -> UnattendedCommand {
    try started(with: environment, hardening) { path, words, environment throws(ChildStartError) in
      try UnattendedCommand(path, words, environment: environment, output: output)
    }
  }

  /// Held while a child is started: the restrictions that are undone meanwhile are those of the whole process.
  private static let starting = Mutex(())

  private func started<Started: Sendable>(
    with environment: FilledEnvironment, _ hardening: Hardening,
    _ start: (String, [String], UnsafePointer<UnsafeMutablePointer<CChar>?>) throws(ChildStartError) -> Started
  ) throws(Failure) -> Started {
    do throws(ChildStartError) {
      return try Self.starting.withLock { _ throws(ChildStartError) in
        try hardening.undone { () throws(ChildStartError) in
          try environment.lend { environment throws(ChildStartError) in
            do throws(ChildStartError) {
              return try start(path, arguments, environment)
            } catch  where error.code == ENOEXEC {
              return try start(Self.shell, Self.script(path, arguments), environment)
            }
          }
        }
      }
    } catch {
      throw cannotStart(error.code)
    }
  }

  private static let shell = "/bin/sh"

  /// The words with which the shell runs a script without `#!`, as shells do.
  private static func script(_ path: String, _ arguments: [String]) -> [String] {
    [shell, path] + arguments.dropFirst()
  }

  private func cannotStart(_ code: Int32) -> Failure {
    Failure(
      .cannotExecute, "\(path): \(String(cString: strerror(code)))",
      advice: code == E2BIG
        ? "read what is too long for an environment with 'whorl get'" : "see whether it starts without 'whorl run'")
  }
}

/// A command that the person has chosen, run at their terminal, as a shell would run it.
struct ChosenCommand {
  /// An option of the command that names a descriptor, and the secret to read there.
  typealias Answer = (option: String, secret: SharedSecret)

  private let words: [String]

  init(_ words: [String]) { self.words = words }

  /// Runs it to its end, with this program's terminal and environment, and with the limits that this program was
  /// started with. The status is that of a shell: 127 if there is no such program. If a signal ends the command, this
  /// program says how to continue and ends by the same signal.
  ///
  /// - Parameter answers: secrets that the command reads from the descriptors of these options instead of prompting
  ///   again.
  func run(_ hardening: Hardening, answers: [Answer] = []) -> Int32 {
    let inputs = answers.compactMap { answer in Self.input(of: answer.secret).map { (answer.option, $0) } }
    defer { for (_, input) in inputs { close(input) } }
    let options = inputs.enumerated().flatMap { place, input in [input.0, "\(place + 3)"] }
    let command = try? Interruption.start { () throws(ChildStartError) in
      try hardening.undone { () throws(ChildStartError) in
        try ForegroundCommand(program, words + options, given: inputs.map(\.1))
      }
    }
    guard let command else { return Self.notFound }
    defer { Interruption.hasEnded() }
    let ending = command.ending()
    if let signal = ending.endingSignal { Interruption.follow(signal) }
    return ending.status
  }

  /// A descriptor of a memory file that repeats the secret, one line for each prompt of a command. Nil if there is no
  /// memory; the command then prompts.
  private static func input(of secret: SharedSecret) -> Int32? {
    do {
      var writer = try SealedFile.Writer()
      for _ in 1...2 {
        _ = try writer.append(secret.bytes)
        var newline = SecretBytes(count: 1)
        newline.withUnsafeMutableBytes { $0[0] = UInt8(ascii: "\n") }
        _ = try writer.append(newline)
      }
      return try writer.seal().release()
    } catch {
      return nil
    }
  }

  private static let notFound: Int32 = 127

  /// This program's own executable, not one from `PATH`. If possible its path, since a program started through
  /// `/proc/self/exe` is called "exe" in prompts and the log.
  private static var executable: String {
    guard let path = ClientProgram(getpid()).path, access(path, X_OK) == 0 else { return "/proc/self/exe" }
    return path
  }

  private var program: String { words[0] == "whorl" ? Self.executable : words[0] }
}

extension ServiceManager {
  /// One whose commands run at the person's terminal.
  init(_ hardening: Hardening) { self.init { ChosenCommand($0).run(hardening) } }
}
