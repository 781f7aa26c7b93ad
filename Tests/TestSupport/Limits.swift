internal import ArchiveIO
internal import Glibc

/// Limits on the test's own process, for exit tests.
public enum Limits {
  /// Leaves the process only so many more descriptors, whatever it has inherited.
  public static func leaveDescriptors(_ count: Int) {
    var (number, free) = (Int32(0), 0)
    while free < count {
      if fcntl(number, F_GETFD) < 0 { free += 1 }
      number += 1
    }
    var limit = rlimit(rlim_cur: rlim_t(number), rlim_max: rlim_t(number))
    _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Gives up root for good.
  public static func becomePlainUser() -> Bool {
    let user = Shell.plainUser
    return setgroups(0, nil) == 0 && setgid(user) == 0 && setuid(user) == 0
  }
}
