import Glibc
import SecretModel
import SessionPrompts
import Testing

@Suite("Connection limits of a server's clients")
struct ClientPlacesTests {
  private static let own = ProgramFile.other

  private func program(_ process: pid_t, _ file: ProgramFile = own) -> ClientProgram {
    ClientProgram(process, path: "/usr/bin/p\(process)", arguments: [], file: file)
  }

  private func installed(_ number: UInt64) -> ProgramFile { ProgramFile(device: 1, inode: number, owner: 0) }

  @Test("a new connection over a process's limit replaces the least recently used one")
  func process() {
    var places = ClientPlaces<Int>(.init(process: 2, program: 10, all: 10))
    for id in 1...2 { #expect(places.admit(id, program(7)) == .admitted(insteadOf: nil)) }
    places.begin(1)
    places.end(1)
    #expect(places.admit(3, program(7)) == .admitted(insteadOf: 2))
    // Another process has its own.
    #expect(places.admit(4, program(8)) == .admitted(insteadOf: nil))
    places.begin(1)
    places.begin(3)
    #expect(places.admit(5, program(7)) == .refused("/usr/bin/p7 has 2 connections, the most of a process"))
    places.leave(1)
    #expect(places.admit(5, program(7)) == .admitted(insteadOf: nil))
  }

  @Test("many processes of one program, and renamed copies of it, cannot use all connections")
  func program() {
    var places = ClientPlaces<Int>(.init(process: 2, program: 3, all: 10))
    for id in 1...3 { #expect(places.admit(id, program(pid_t(id))) == .admitted(insteadOf: nil)) }
    for id in 1...3 { places.begin(id) }
    #expect(
      places.admit(4, program(4))
        == .refused("/usr/bin/p4 and other processes of its kind have 3 connections, the most"))
    #expect(places.admit(5, program(5, installed(5))) == .admitted(insteadOf: nil))
  }

  @Test("if all connections are used, the program with the most loses an idle one")
  func idle() {
    var places = ClientPlaces<Int>(.init(process: 5, program: 5, all: 4))
    for id in 1...3 { _ = places.admit(id, program(1, installed(1))) }
    _ = places.admit(9, program(2, installed(2)))
    places.begin(1)
    #expect(places.admit(10, program(3, installed(3))) == .admitted(insteadOf: 2))
  }

  @Test(
    "if all connections are busy, the program with the most loses its last, and one with as many is refused"
  )
  func busy() {
    var places = ClientPlaces<Int>(.init(process: 5, program: 5, all: 4))
    for id in 1...3 { _ = places.admit(id, program(1, installed(1))) }
    _ = places.admit(9, program(2, installed(2)))
    for id in [1, 2, 3, 9] { places.begin(id) }
    #expect(places.admit(10, program(3, installed(3))) == .admitted(insteadOf: 3))
    places.begin(10)
    #expect(
      places.admit(11, program(1, installed(1))) == .refused("4 connections are open; /usr/bin/p1 has 2 of them"))
  }

  @Test("connections are counted for each sandboxed program of a portal on its own")
  func sandboxed() {
    var places = ClientPlaces<Int>(.init(process: 5, program: 1, all: 4))
    _ = places.admit(1, program(1, installed(1)).asking(for: "one"))
    places.begin(1)
    #expect(places.admit(2, program(1, installed(1)).asking(for: "two")) == .admitted(insteadOf: nil))
  }
}
