internal import FuzzBodies
internal import Glibc

/// The target that FUZZ_TARGET names.
private let target: FuzzTarget = {
  let name = unsafe getenv("FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    fatalError("FUZZ_TARGET is one of \(FuzzTarget.allCases.map(\.rawValue).joined(separator: ", "))")
  }
  return target
}()

/// Where ``FuzzTarget/archive`` works.
private let scratch: String = unsafe getenv("FUZZ_SCRATCH").map { unsafe String(cString: $0) } ?? "/dev/shm"

/// What libFuzzer calls with every input. A broken promise ends the process, and libFuzzer keeps the input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ byteCount: Int) -> CInt {
  let input = unsafe [UInt8](UnsafeBufferPointer(start: data, count: byteCount))
  do throws(FuzzFailure) { try target.run(input, scratch: scratch, isAlone: true) } catch {
    fatalError("\(target.rawValue): \(error)")
  }
  return 0
}
