import CommandBase
import Glibc
import Processes
import SecretModel
import Settings

/// The program that another program is told to start: the one that `--program` names, or Whorl's own.
struct NamedHelper {
  private let program: String?
  private let own: String
  private let refusal: String
  private let script: String

  /// - Parameters:
  ///   - program: what the person has named.
  ///   - own: the name of Whorl's program, beside `whorl`.
  ///   - refusal: why that one cannot serve another store.
  ///   - script: the command whose help shows a script that can.
  init(_ program: String?, ofWhorl own: String, refusal: String, scriptIn script: String) {
    (self.program, self.own, self.refusal, self.script) = (program, own, refusal, script)
  }

  /// - Parameter options: those of the command, which the other program does not pass on.
  func path(_ options: GlobalOptions) throws(Failure) -> String {
    if let program {
      do throws(HelperProgramError) {
        guard program.hasPrefix("/"), !program.hasControlCharacters else {
          throw .missing(path: program, code: ENOENT)
        }
        return try HelperProgram(at: program).path
      } catch {
        throw .usage(error.words, advice: "name the full path of a program")
      }
    }
    guard options.store == nil, options.reader == nil, options.config == nil else {
      throw .usage(refusal, advice: "make a script, as '\(script) --help' says, and name it with --program")
    }
    guard let path = HelperPlaces(of: own).locateWithExecutable() else {
      throw Failure(
        .unavailable, "\(own) is not installed beside whorl",
        advice: "install Whorl with its packages, or 'make install'")
    }
    return path
  }
}
