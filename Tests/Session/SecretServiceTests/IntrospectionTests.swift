import Glibc
import ProgramDriver
import SDBus
import Testing

@Suite("Programs that list the objects of the Secret Service", .serialized)
struct IntrospectionTests {
  private func xml(_ path: String, _ client: ServiceClient) async throws -> String {
    let answer = try await client.call(path, "org.freedesktop.DBus.Introspectable", "Introspect")
    return answer.first?.asString ?? ""
  }

  @Test("busctl lists every object of the Secret Service from the root, and no session or prompt of another program")
  func tree() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let session = try await client.plainSession()
      let item = try await client.create("s", label: "l", ["a": "b"], session: session)
      let made = try await client.call(
        ServiceClient.root, "Service", "CreateCollection",
        [.dictionary(["org.freedesktop.Secret.Collection.Label": .string("Work")]), .string("work")])
      #expect(made.first?.asObjectPath == "\(ServiceClient.root)/collection/Work")
      let listed = try await service.run(
        "/usr/bin/busctl", "--address=\(service.bus.address)", "--list", "--no-pager", "tree",
        "org.freedesktop.secrets")
      let paths = Set(listed.text.split(separator: "\n").map(String.init))
      let root = ServiceClient.root
      let expected: Set = [
        "/", "/org", "/org/freedesktop", "/org/freedesktop/portal", "/org/freedesktop/portal/desktop", root,
        "\(root)/aliases", "\(root)/aliases/default", "\(root)/aliases/session", "\(root)/aliases/work",
        "\(root)/collection", "\(root)/collection/login", "\(root)/collection/session", "\(root)/collection/Work", item,
        "/org/whorl", "/org/whorl/SecretService",
      ]
      #expect(paths == expected, "\(listed.text)\(listed.diagnostics)")
    }
  }

  @Test(
    "gdbus lists the same objects of the Secret Service as busctl, and reads their properties",
    .enabled("gdbus is not installed") { hasGdbus })
  func otherTools() async throws {
    try await RunningSecretService.with { service in
      try await service.storeWithTool("s", label: "l", "a", "b")
      let at = ["--session", "--dest", "org.freedesktop.secrets", "--object-path"]
      func gdbus(_ words: [String]) async throws -> Invocation.Result {
        try await Invocation(
          program: "/usr/bin/gdbus", arguments: words, environment: ["DBUS_SESSION_BUS_ADDRESS": service.bus.address]
        ).run()
      }
      let listed = try await gdbus(["introspect", "--recurse"] + at + ["/"])
      #expect(listed.status == 0 && listed.diagnostics.isEmpty, "\(listed.diagnostics)")
      let paths = listed.text.split(separator: "\n").filter { $0.contains("node /") }.compactMap {
        $0.split(separator: " ").dropFirst().first.map(String.init)
      }
      let expected = try await service.run(
        "/usr/bin/busctl", "--address=\(service.bus.address)", "--list", "--no-pager", "tree",
        "org.freedesktop.secrets")
      #expect(Set(paths) == Set(expected.text.split(separator: "\n").map(String.init)), "\(listed.text)")
      #expect(listed.text.contains("readwrite s Label = 'l'"), "it reads properties, too")
      // Programs ask every path for what it may have.
      for path in ["/", "/org/freedesktop"] {
        let managed = try await gdbus(
          ["call"] + at + [path, "--method", "org.freedesktop.DBus.ObjectManager.GetManagedObjects"])
        #expect(managed.diagnostics.contains("org.freedesktop.DBus.Error.Unknown"), "\(managed.diagnostics)")
      }
    }
  }

  private static var hasGdbus: Bool { access("/usr/bin/gdbus", X_OK) == 0 }

  @Test("the description of a folder of objects names its children alone, and one that is not there has none")
  func folders() async throws {
    try await RunningSecretService.with { service in
      let client = try await ServiceClient(service.bus)
      let root = ServiceClient.root
      #expect(try await xml("/", client).contains(#"<node name="org"/>"#))
      #expect(try await xml("/org/freedesktop", client).contains(#"<node name="secrets"/>"#))
      let aliases = try await xml("\(root)/aliases", client)
      #expect(aliases.contains(#"<node name="default"/>"#))
      #expect(!aliases.contains("org.freedesktop.Secret."))
      #expect(try await xml("\(root)/aliases/default", client).contains("org.freedesktop.Secret.Collection"))
      // A program sees its own sessions.
      let session = try await client.plainSession()
      let own = session.split(separator: "/").last ?? ""
      #expect(try await xml("\(root)/session", client).contains("<node name=\"\(own)\"/>"))
      #expect(try await !xml("\(root)/session", try await ServiceClient(service.bus)).contains("<node name="))
      for path in ["/com", "/org/freedesktop/other", "\(root)/collection/none", "\(root)/x", "\(root)/session/none"] {
        #expect(await client.error(path, "org.freedesktop.DBus.Introspectable", "Introspect") == "NoSuchObject")
      }
    }
  }
}
