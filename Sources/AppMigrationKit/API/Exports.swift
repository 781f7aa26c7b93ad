// Code written for Apple's framework often says `import AppMigrationKit` alone and means URL, Data and Progress too.
@_exported public import Foundation
