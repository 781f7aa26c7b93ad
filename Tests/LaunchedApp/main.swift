import AppMigrationHost
import Foundation

/// What an app does when it is launched: takes its lock, which cleans up after an interrupted migration, and says what it found. Then it
/// runs until its standard input ends.
///
/// Arguments: the container.
let layout = try ContainerLayout(
  bundleIdentifier: "org.example.behaving", containerPath: Array(CommandLine.arguments[1].utf8))
do {
  let lock = try AppLaunchLock.acquire(layout) { path throws(MigrationError) in
    _ = try OrphanHunter.stopHolders(ofLockFile: path)
  }
  print("launched, found \(lock.recovered)")
  fflush(nil)
  _ = FileHandle.standardInput.readDataToEndOfFile()
  lock.release()
} catch {
  print("\(error.code)")
  exit(2)
}
