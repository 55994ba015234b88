import Foundation
import Testing

@Suite("Packages")
struct PackagingTests {
  /// The output of `whorl --version`.
  private func version() async throws -> String {
    try await run(Repository.products.appending(path: "whorl").path, "--version").output
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test("the Debian, RPM and Arch packages have the version of the program")
  func versions() async throws {
    let version = try await version()
    #expect(version.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+/) != nil)
    let debian = try Repository.text("packaging/debian/changelog").split(separator: "\n")[0]
    #expect(debian.hasPrefix("whorl (\(version)"))
    let rpm = try Repository.text("packaging/rpm/whorl.spec")
    #expect(rpm.contains("\nVersion:        \(version)\n"))
    let arch = try Repository.text("packaging/arch/PKGBUILD")
    #expect(arch.contains("\npkgver=\(version)\n"))
  }

  @Test("the Debian and RPM packages require the libraries that the build requires")
  func dependencies() throws {
    let table = try Repository.text("scripts/packages.txt").split(separator: "\n").map { $0.split(separator: " ") }
    let libraries = table.filter { row in
      row.count == 5 && row[0] == "build" && ["pc:", "file:"].contains { row[1].hasPrefix($0) }
    }
    #expect(libraries.contains { $0[2] == "libpam0g-dev" } && libraries.count > 4)
    let debian = try Repository.text("packaging/debian/control")
    let rpm = try Repository.text("packaging/rpm/whorl.spec")
    for library in libraries {
      #expect(debian.contains("\n \(library[2]),\n"), "\(library[2])")
      #expect(rpm.contains("\nBuildRequires:  \(library[3])\n"), "\(library[3])")
    }
  }

  // Packages of one release do not install on another.
  @Test("make deb builds packages for this machine's release, or in a system of the named one")
  func releases() async throws {
    let here = try await run("make", "--dry-run", "--no-print-directory", "deb").output.split(separator: "\n")
    #expect(here.contains("scripts/build") && here.contains("scripts/deb"), "\(here)")
    let elsewhere = try await run("make", "--dry-run", "--no-print-directory", "deb", "RELEASE=trixie").output
      .split(separator: "\n")
    #expect(elsewhere.contains("scripts/deb-for 'trixie'"), "\(elsewhere)")
    #expect(!elsewhere.contains("scripts/build") && !elsewhere.contains("scripts/deb"), "\(elsewhere)")

    let help = try await run("scripts/deb-for")
    #expect(help.status == 64 && help.errors.contains("usage: "), "\(help.errors)")
    let wrong = try await run("scripts/deb-for", "../trixie")
    #expect(wrong.status == 64 && wrong.errors.contains("is no name of a release"), "\(wrong.errors)")
  }

  // Programs expect the service as soon as the marker exists.
  @Test("the Debian and RPM packages make the marker of the service last, and all packages remove it first")
  func marker() throws {
    func expect(_ first: String, before second: String, in path: String) throws {
      let script = try Repository.text(path)
      let (start, end) = (try #require(script.range(of: first)), try #require(script.range(of: second)))
      #expect(start.upperBound <= end.lowerBound, "\(path): \(first)")
    }
    try expect("\n#DEBHELPER#\n", before: "mv -fT \"$marker\" /etc/whorl/system", in: "packaging/debian/whorl.postinst")
    try expect("rm -f /etc/whorl/system", before: "\n#DEBHELPER#\n", in: "packaging/debian/whorl.prerm")
    let (sockets, rpm) = ("--now %{sockets}", "packaging/rpm/whorl.spec")
    try expect("systemctl enable \(sockets)", before: "mv -fT \"$marker\" /etc/whorl/system", in: rpm)
    try expect("rm -f /etc/whorl/system", before: "systemctl disable \(sockets)", in: rpm)
    // The owner of an Arch machine makes the marker, in the order that the package tells.
    let arch = "packaging/arch/whorl.install"
    try expect("systemctl enable --now $sockets", before: "/etc/whorl/system", in: arch)
    try expect("rm -f /etc/whorl/system", before: "systemctl disable --now $sockets", in: arch)
  }

  // Debian's zsh reads site-functions only below /usr/local; other systems' read it below /usr.
  @Test("the Debian and RPM packages install zsh's completion in the folder that the system's zsh reads")
  func completion() throws {
    #expect(
      try Repository.text("packaging/debian/rules").contains("\nexport ZSH_FOLDER = share/zsh/vendor-completions\n"))
    #expect(try Repository.text("packaging/rpm/whorl.spec").contains("\n/usr/share/zsh/site-functions/_whorl\n"))
  }

  @Test("removing a package keeps stores", arguments: ["packaging/debian/whorl.postrm", "packaging/rpm/whorl.spec"])
  func stores(script: String) throws {
    let lines = try Repository.text(script).split(separator: "\n").filter { $0.contains("/var/lib/whorl") }
    #expect(!lines.isEmpty)
    for line in lines {
      let words = line.trimmingCharacters(in: .whitespaces)
      // Harmless: a message for an administrator, a condition, a list, a label, or a command that removes only an empty folder.
      let isHarmless = ["if [ -d ", "for store in ", "if selinuxenabled; then restorecon ", "#"].contains {
        words.hasPrefix($0)
      }
      #expect(words.hasPrefix("echo ") || (isHarmless && !words.contains("rm -")), "\(line)")
    }
  }

  /// An archive is made from a commit, so this needs a git clone.
  private static var isClone: Bool {
    FileManager.default.fileExists(atPath: Repository.root.appending(path: ".git").path)
  }

  @Test(
    "the source archive of a commit is reproducible, and contains every dependency", .enabled(if: isClone))
  func sourceArchive() async throws {
    let first = try await run("scripts/dist", environment: ["TZ": "Asia/Tokyo"])
    #expect(first.status == 0, "\(first.errors)")
    let second = try await run("sh", "-c", "umask 077; scripts/dist", environment: ["TZ": "UTC"])
    #expect(second.status == 0, "\(second.errors)")
    #expect(first.output.wholeMatch(of: /[0-9a-f]{64}  whorl-[0-9.]+\.tar\.gz\n/) != nil, "\(first.output)")
    #expect(first.output == second.output)

    let name = "whorl-\(try await version())"
    let archive = ".build/dist/\(name).tar.gz"
    let manifest = try await run("tar", "-xzOf", archive, "\(name)/Package.swift").output
    #expect(!manifest.contains("package(url:"))
    let files = try await run("tar", "-tzf", archive).output
    for dependency in manifest.matches(of: /\.package\(path: "([^"]+)"\)/).map(\.1) {
      #expect(files.contains("\n\(name)/\(dependency)/Package.swift\n"), "\(dependency)")
    }
  }
}
