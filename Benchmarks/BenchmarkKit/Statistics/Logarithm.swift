internal import Glibc

/// For scales on which twice and half lie equally far from the middle.
enum Logarithm {
  /// To the base of 2.
  static func two(_ number: Double) -> Double { log2(number) }
}
