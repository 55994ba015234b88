import SessionPrompts
import Testing

@Suite("The name of a client program")
struct ClientWordsTests {
  private func words(_ path: String?, _ arguments: String...) -> String {
    ClientProgram(7, path: path, arguments: arguments).words
  }

  @Test("a client program is named by its path, or by its process number if the path is not known")
  func path() {
    #expect(words("/usr/bin/secret-tool", "secret-tool", "lookup") == "/usr/bin/secret-tool")
    #expect(words("/opt/pythonic/mail", "mail", "x.py") == "/opt/pythonic/mail")
    #expect(words(nil, "python3", "x.py") == "process 7, unverified")
  }

  @Test("a client program's name includes an interpreter's script, marked as what the interpreter says")
  func script() {
    #expect(
      words("/usr/bin/python3.11", "/usr/bin/python3", "-I", "./mail.py", "alice")
        == "/usr/bin/python3.11, which says that it runs “./mail.py”")
    #expect(
      words("/usr/bin/python3.11", "python3", "-m", "keyring", "get")
        == "/usr/bin/python3.11, which says that it runs “keyring”")
    #expect(
      words("/usr/bin/lua5.4", "lua", "a.lua") == "/usr/bin/lua5.4, which says that it runs “a.lua”")
    #expect(words("/usr/bin/python3.11", "python3", "-c", "import keyring") == "/usr/bin/python3.11")
    #expect(words("/usr/bin/python3.11", "python3") == "/usr/bin/python3.11")
    #expect(words("/usr/bin/python3.11") == "/usr/bin/python3.11")
  }

  @Test("a client program's name says that the program is in a network login, and from where")
  func remote() {
    func words(_ path: String?, from host: String?) -> String {
      ClientProgram(7, path: path, arguments: ["x", "y"], remoteLogin: RemoteLogin(from: host)).words
    }
    #expect(words("/usr/bin/ssh", from: "192.0.2.7") == "/usr/bin/ssh in a login over the network from 192.0.2.7")
    #expect(
      words("/usr/bin/perl", from: nil)
        == "/usr/bin/perl in a login over the network, which says that it runs “y”")
    #expect(words(nil, from: "a\nb") == "process 7 in a login over the network from a b, unverified")
    let (here, there) = (ClientProgram(7, path: "/x", arguments: []), RemoteLogin(from: nil))
    #expect(here.program != ClientProgram(8, path: "/x", arguments: [], remoteLogin: there).program)
  }

  @Test("a client program's own text is shown without characters that could imitate a prompt, and shortened")
  func hostile() {
    #expect(
      words("/usr/bin/perl", "perl", "a\nTouch the reader to go on")
        == "/usr/bin/perl, which says that it runs “a Touch the reader to go on”")
    let long = words("/usr/bin/perl", "perl", String(repeating: "x", count: 10_000) + "/end.pl")
    #expect(long.count < 150)
    #expect(long.hasSuffix("xxx/end.pl”"))
  }
}
