internal import BenchmarkKit

/// What is measured; Foundation has a type of this name as well.
typealias Operation = BenchmarkKit.Operation
