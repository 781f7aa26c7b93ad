internal import CLinuxShims
internal import Glibc

/// Makes the n-th of all calls of a name fail, for tests. In release builds nothing is injected.
///
/// There is one fault a process. It can also be armed from outside a debug build: `STARC_FAULT=write:17:ENOSPC`, or
/// `write:-17:ENOSPC` for the 17th and all later calls; kinds are names of errors, their numbers, or `SHORT`.
/// With `STARC_FAULT_COUNTS=FILE` it writes how many calls of each name it made.
package enum FaultInjection {
  /// What happens instead of the call.
  package enum Kind: Sendable {
    case error(Int32)
    /// A read or write transfers half of what was asked for.
    case short
    /// Calls are only counted.
    case none
  }

  /// Arms a fault for a call such as "openat", or "*" for all. Returns false where it is not compiled in.
  @discardableResult
  package static func arm(_ call: String, nth: Int, kind: Kind, andAllLater: Bool = false) -> Bool {
    let number: Int32 =
      switch kind {
      case .error(let errno): errno
      case .short: STARC_FAULT_SHORT
      case .none: 0
      }
    return unsafe starc_fault_arm(call, Int64(andAllLater ? -nth : nth), number) == 1
  }

  /// Ends the injection.
  package static func disarm() { starc_fault_disarm() }

  /// How many calls matched since arming.
  package static var callCount: Int { Int(starc_fault_calls()) }

  /// Whether the fault happened.
  package static var wasDelivered: Bool { starc_fault_fired() == 1 }

  /// To be asked before something that can fail and is not a call of this module, such as making a codec context.
  package static func check(_ call: StaticString) throws(SystemError) {
    let kind = call.withUTF8Buffer { name in
      unsafe withTerminated(UnsafeRawBufferPointer(name)) { unsafe Int64(starc_fault_point($0)) }
    }
    if kind > 0 { throw SystemError(call, errno: Int32(truncatingIfNeeded: kind)) }
  }
}
