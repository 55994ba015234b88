import Primitives
import ReaderBus
import Testing

@Suite("The machine's own fprintd")
struct FprintdNatureTests {
  @Test("the machine's own fprintd is the one on the system bus, seen from the initial user namespace")
  func nature() {
    let elsewhere = [
      FprintdPlace(bus: FprintdPlace.system.bus, templates: "/tmp"),
      FprintdPlace(bus: "unix:path=/tmp/bus", templates: FprintdPlace.system.templates),
    ]
    #expect(FprintdPlace.system.nature(inInitialUserNamespace: true) == .physical)
    #expect(FprintdPlace.system.nature(inInitialUserNamespace: false) == .virtual)
    for place in elsewhere { #expect(place.nature(inInitialUserNamespace: true) == .virtual) }
  }
}
