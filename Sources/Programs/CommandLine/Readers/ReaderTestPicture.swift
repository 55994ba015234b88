import Fingerprint
import Glibc
import PromptTexts
import SecureMemory
import Whorl

/// The step that takes the picture of a finger.
extension ReaderTestRun {
  func capture() async throws(ReaderError) -> StepOutcome {
    for _ in 1...10 {
      say("\(touchWord) \(theReader) with one finger, to take its picture")
      switch try await reader.capture(includingImage: image != nil, observer: { self.show($0) }) {
      case .picture(let picture):
        guard let image, let file = picture.file else { return .captured(picture) }
        do throws(Failure) {
          try image.write(mode: 0o600) { file.write(to: $0) }
        } catch {
          return .failed(error)
        }
        note("\(image.path) holds YOUR FINGERPRINT: keep it to yourself.")
        return .captured(picture)
      case .retry: continue
      }
    }
    return .failed(.unreadable)
  }
}

extension PictureFile {
  /// Writes the whole file. Returns the `errno` of a failure.
  fileprivate func write(to descriptor: Int32) -> Int32? {
    do {
      try sealed.secret().write(to: descriptor)
      return nil
    } catch WriteError.system(let code) {
      return code
    } catch SealedFile.Failure.system(let code) {
      return code
    } catch {
      return EIO
    }
  }
}

extension Spoken {
  /// "288 by 118 pixels at 500 dpi (14.6 by 6.0 mm), 31 minutiae, contrast 201 of 255: good".
  static func picture(_ picture: FingerPicture) -> String {
    let verdict = [picture.quality.rawValue] + picture.flaws.map(flaw)
    return """
      \(picture.width) by \(picture.height) pixels\(scale(of: picture)), \
      \(plural(picture.minutiae, "minutia", "minutiae")), contrast \(picture.contrast) of 255: \
      \(verdict.joined(separator: ", "))
      """
  }

  private static func scale(of picture: FingerPicture) -> String {
    guard let resolution = picture.resolution, let dotsPerInch = picture.dotsPerInch, resolution > 0 else {
      return " (the driver tells no resolution)"
    }
    func millimetres(_ pixels: Int) -> String {
      let tenths = (pixels * 10_000 + resolution / 2) / resolution
      return "\(tenths / 10).\(tenths % 10)"
    }
    return " at \(dotsPerInch) dpi (\(millimetres(picture.width)) by \(millimetres(picture.height)) mm)"
  }

  private static func flaw(_ flaw: PictureFlaw) -> String {
    switch flaw {
    case .tooFewMinutiae: "too few minutiae for the matcher, which needs 10"
    case .fewMinutiae: "few minutiae to match by"
    case .noise: "more minutiae than a finger has: noise, or dirt on the reader"
    case .lowContrast: "little contrast"
    }
  }
}
