/// Positions at even distances in something that is cut into parts, so that each part has as many as it has bytes.
struct EvenSample {
  /// The part and the byte in it of each position, ascending.
  let places: [(part: Int, offset: Int)]

  init(byteCounts: [Int], count: Int) {
    var places: [(part: Int, offset: Int)] = []
    let all = byteCounts.reduce(0.0) { $0 + Double($1) }
    guard count > 0, all > 0 else {
      self.places = []
      return
    }
    let distance = all / Double(count)
    var (start, next) = (0.0, distance / 2)
    for (part, byteCount) in byteCounts.enumerated() where byteCount > 0 {
      while places.count < count, next < start + Double(byteCount) {
        places.append((part, min(byteCount - 1, Int(next - start))))
        next += distance
      }
      start += Double(byteCount)
    }
    self.places = places
  }
}
