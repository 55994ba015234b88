package import SecureMemory

/// Measurements of the picture of a finger, and the picture itself if it was asked for.
package struct FingerPicture: Sendable {
  /// In pixels.
  package var width: Int
  /// In pixels.
  package var height: Int
  /// Pixels per metre; nil if the driver does not report it, like most. 19685 (500 per inch) is usual.
  package var resolution: Int?
  /// The number of ridge endings and forks that libfprint found, which its matcher compares.
  package var minutiae: Int
  /// From 0 to 255: the difference between the 95th and the 5th percentile of the grey values.
  package var contrast: Int
  /// The picture itself; nil if it was not asked for.
  package var file: PictureFile?

  package init(width: Int, height: Int, resolution: Int?, minutiae: Int, contrast: Int, file: PictureFile?) {
    self.width = width
    self.height = height
    self.resolution = resolution
    self.minutiae = minutiae
    self.contrast = contrast
    self.file = file
  }

  /// Pixels per inch; nil if the driver does not report it.
  package var dotsPerInch: Int? { resolution.map { ($0 * 254 + 5_000) / 10_000 } }
}

/// The picture of a finger as a PNG file. It is a fingerprint, so it is kept like a secret.
package final class PictureFile: Sendable {
  package let sealed: SealedFile

  package init(_ sealed: consuming SealedFile) {
    self.sealed = sealed
  }
}

/// How a capture ended.
package enum CaptureOutcome: Sendable {
  case picture(FingerPicture)
  /// The touch gave no picture, or one without minutiae.
  case retry(RetryReason)
}
