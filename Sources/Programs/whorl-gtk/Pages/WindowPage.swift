/// A page of an open store.
protocol WindowPage: AnyObject {
  var root: Widget { get }

  /// The page is shown, or the store has changed.
  func refresh()

  /// Whether the window is so narrow that it shows the page in place of the list of pages. Then the page has a button
  /// that leads back to that list.
  func setNarrow(_ isNarrow: Bool)
}
