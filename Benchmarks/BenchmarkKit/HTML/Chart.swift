/// Charts as SVG. Lengths across are shares of the width, so that a chart fills a phone and a screen alike with the same
/// size of letters.
struct Chart {
  private var body = ""
  private var height = 0.0
  private let label: String

  /// - Parameter label: what the chart shows, for those who cannot see it.
  init(label: String) { self.label = label }

  /// The finished picture.
  var svg: String {
    Markup.element(
      "svg",
      [
        ("width", "100%"), ("height", NumberText.fixed(height, 0)), ("role", "img"), ("aria-label", label),
      ], body)
  }

  /// A bar from zero, with what it stands for above it.
  ///
  /// - Parameters:
  ///   - value: its length as a share of the width, 0...1.
  ///   - spread: where samples lie, as shares.
  mutating func bar(
    _ title: String, _ text: String, value: Double, spread: ClosedRange<Double>? = nil, kind: String
  ) {
    head(title, text)
    rectangle(from: 0, to: 1, kind: "track")
    rectangle(from: 0, to: value, kind: kind)
    if let spread { whisker(spread) }
    height += 24
  }

  /// Parts beside each other.
  mutating func stack(_ title: String, _ text: String, parts: [(share: Double, kind: String, title: String)]) {
    head(title, text)
    rectangle(from: 0, to: 1, kind: "track")
    var start = 0.0
    for part in parts {
      rectangle(from: start, to: start + part.share, kind: part.kind, title: part.title)
      start += part.share
    }
    height += 24
  }

  /// A point with its spread on a line on which one place means "the same".
  mutating func point(
    _ title: String, _ text: String, value: Double, spread: ClosedRange<Double>, origin: Double, kind: String
  ) {
    head(title, text)
    let middle = height + 10
    line(from: (0, middle), to: (1, middle), kind: "rule")
    line(from: (origin, height + 2), to: (origin, height + 18), kind: "origin")
    line(from: (spread.lowerBound, middle), to: (spread.upperBound, middle), kind: "span " + kind)
    body += Markup.empty(
      "circle", [("cx", percent(value)), ("cy", NumberText.fixed(middle, 1)), ("r", "5"), ("class", kind)])
    height += 26
  }

  /// A mark on the bar that was drawn last.
  mutating func mark(at share: Double) {
    line(from: (share, height - 25), to: (share, height - 9), kind: "mark")
  }

  private mutating func head(_ title: String, _ text: String) {
    let y = NumberText.fixed(height + 13, 0)
    body += Markup.text("text", [("x", "0"), ("y", y)], title)
    body += Markup.text("text", [("x", "100%"), ("y", y), ("class", "value")], text)
    height += 19
  }

  private mutating func rectangle(from start: Double, to end: Double, kind: String, title: String? = nil) {
    let width = max(0, min(end, 1) - max(start, 0))
    let attributes = [
      ("x", percent(start)), ("y", NumberText.fixed(height, 0)), ("width", percent(width)), ("height", "12"),
      ("rx", title == nil ? "2" : "0"), ("class", kind),
    ]
    body +=
      title.map { Markup.element("rect", attributes, Markup.text("title", [], $0)) }
      ?? Markup.empty("rect", attributes)
  }

  private mutating func whisker(_ spread: ClosedRange<Double>) {
    let middle = height + 6
    line(from: (spread.lowerBound, middle), to: (spread.upperBound, middle), kind: "whisker")
    for end in [spread.lowerBound, spread.upperBound] {
      line(from: (end, middle - 4), to: (end, middle + 4), kind: "whisker")
    }
  }

  private mutating func line(from start: (Double, Double), to end: (Double, Double), kind: String) {
    body += Markup.empty(
      "line",
      [
        ("x1", percent(start.0)), ("y1", NumberText.fixed(start.1, 1)), ("x2", percent(end.0)),
        ("y2", NumberText.fixed(end.1, 1)), ("class", kind),
      ])
  }

  private func percent(_ share: Double) -> String { NumberText.fixed(min(max(share, 0), 1) * 100, 2) + "%" }
}
