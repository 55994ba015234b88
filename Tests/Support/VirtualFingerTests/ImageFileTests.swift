import Glibc
import Primitives
import Testing

@testable import VirtualFinger

@Suite("Image files")
struct ImageFileTests {
  @Test("a fingerprint image that is written to a file is read back pixel for pixel")
  func roundTrip() throws {
    let image = SyntheticFinger(person: 1, finger: .leftThumb).impression(3)
    try withTemporaryFile { path in
      try image.write(png: path)
      #expect(try GrayImage(png: path) == image)
    }
  }

  @Test("an image whose width is not a multiple of 4 is padded with white on the right")
  func padding() throws {
    let image = GrayImage(width: 5, height: 2, pixels: Array(0..<10))
    let padded = GrayImage(
      width: 8, height: 2, pixels: [0, 1, 2, 3, 4, 255, 255, 255, 5, 6, 7, 8, 9, 255, 255, 255])
    #expect(image.paddedToFour() == padded)
    try withTemporaryFile { path in
      try image.write(png: path)
      #expect(try GrayImage(png: path) == padded)
    }
  }

  @Test("gray values of an image with alpha are read, and transparent pixels become white")
  func alpha() throws {
    // Pairs of grey and alpha, 4 × 1 pixels, as another program wrote them.
    let inAlpha = GrayImage.flattened([50, 10, 90, 20, 255, 30, 50, 255])
    #expect(inAlpha == [10, 20, 30, 255])
    let masked = GrayImage.flattened([50, 0, 90, 255, 40, 255, 100, 51])
    #expect(masked == [255, 90, 40, 224])
  }

  @Test("a missing image file or one that is not an image is an error that names the file")
  func broken() throws {
    #expect(throws: ImageFileError.self) { try GrayImage(png: "/nonexistent/finger.png") }
    try withTemporaryFile { path in
      let file = try #require(fopen(path, "w"))
      fputs("no image", file)
      fclose(file)
      let error = #expect(throws: ImageFileError.self) { try GrayImage(png: path) }
      #expect(error?.description.contains(path) == true)
    }
  }

  private func withTemporaryFile(_ body: (String) throws -> Void) throws {
    var template = Array("/tmp/whorl-image-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    close(descriptor)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    try body(path)
  }
}
