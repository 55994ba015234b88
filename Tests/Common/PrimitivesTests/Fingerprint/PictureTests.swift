import Primitives
import Testing

@Suite("The verdict on the picture of a finger")
struct PictureTests {
  private func picture(minutiae: Int, contrast: Int = 200, resolution: Int? = nil) -> FingerPicture {
    FingerPicture(
      width: 200, height: 100, resolution: resolution, minutiae: minutiae, contrast: contrast, file: nil)
  }

  @Test("a finger's picture is poor below 10 minutiae, fair below 20 or above 150, and good between")
  func minutiae() {
    for (count, quality, flaws) in [
      (0, .poor, [.tooFewMinutiae]), (9, .poor, [.tooFewMinutiae]), (10, .fair, [.fewMinutiae]),
      (19, .fair, [.fewMinutiae]), (20, .good, []), (150, .good, []), (151, .fair, [.noise]),
    ] as [(Int, PictureQuality, [PictureFlaw])] {
      #expect(picture(minutiae: count).quality == quality, "\(count) minutiae")
      #expect(picture(minutiae: count).flaws == flaws, "\(count) minutiae")
    }
  }

  @Test("a finger's picture is fair with a contrast below 64")
  func contrast() {
    #expect(picture(minutiae: 40, contrast: 63).flaws == [.lowContrast])
    #expect(picture(minutiae: 40, contrast: 63).quality == .fair)
    #expect(picture(minutiae: 40, contrast: 64).quality == .good)
    #expect(picture(minutiae: 3, contrast: 0).flaws == [.tooFewMinutiae, .lowContrast])
    #expect(picture(minutiae: 3, contrast: 0).quality == .poor)
  }

  @Test("a finger's picture gives the resolution in dots per inch where the driver reports one")
  func resolution() {
    #expect(picture(minutiae: 40, resolution: 19_685).dotsPerInch == 500)
    #expect(picture(minutiae: 40).dotsPerInch == nil)
  }
}
