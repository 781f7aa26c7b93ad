import AppMigrationHost
import TestSupport
import Testing

@Suite(.inTemporaryDirectory(.memory))
struct EntitlementsTests {
  static let key = "com.apple.developer.app-migration.data-container-access"
  static let groups = "com.apple.security.application-groups"

  private func write(_ body: String) throws -> [UInt8] {
    let directory = try #require(TemporaryDirectory.current)
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">\(body)</plist>
      """
    try FileTree.write(Array(text.utf8), to: directory.file("x.entitlements"))
    return Array(directory.file("x").utf8)
  }

  private static func array(_ values: String...) -> String {
    "<array>" + values.map { "<string>\($0)</string>" }.joined() + "</array>"
  }

  @Test func goodFilesAreRead() throws {
    let plain = try Entitlements.load(
      forExecutable: write("<dict><key>\(Self.key)</key>\(Self.array("org.example.Notes-2"))</dict>"))
    #expect(plain.bundleIdentifier == "org.example.Notes-2" && plain.groups.isEmpty)
    let full = try Entitlements.load(
      forExecutable: write(
        """
        <dict><key>\(Self.key)</key>\(Self.array("a.b"))<key>\(Self.groups)</key>\(Self.array("group.x", "group.y", "group.x"))
        <key>other</key><true/></dict>
        """))
    #expect(full.bundleIdentifier == "a.b" && full.groups == ["group.x", "group.y"])
  }

  @Test(
    "What is wrong is said, with what the file must look like",
    arguments: [
      ("<dict/>", "has no key"),
      ("<dict><key>\(key)</key><string>a.b</string></dict>", "is not an array of strings"),
      ("<dict><key>\(key)</key><array/></dict>", "has 0 elements"),
      ("<dict><key>\(key)</key>\(array("a.b", "a.c"))</dict>", "has 2 elements"),
      ("<dict><key>\(key)</key><array><integer>1</integer></array></dict>", "is not an array of strings"),
      ("<dict><key>\(key)</key>\(array(""))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array("../x"))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array("a..b"))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array(".a"))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array("a/b"))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array("ä"))</dict>", "is no identifier"),
      ("<dict><key>\(key)</key>\(array(String(repeating: "a", count: 156)))</dict>", "is no identifier"),
      (
        "<dict><key>\(key)</key>\(array("a.b"))<key>\(groups)</key><string>g</string></dict>",
        "is not an array of strings"
      ),
      ("<dict><key>\(key)</key>\(array("a.b"))<key>\(groups)</key>\(array("g", "/g"))</dict>", "is no identifier"),
    ])
  func badValuesAreRefused(_ body: String, _ expected: String) throws {
    let path = try write(body)
    let text = try #require(message(.entitlement) { _ = try Entitlements.load(forExecutable: path) })
    #expect(
      text.contains(expected) && text.contains("x.entitlements") && text.contains("<key>\(Self.key)</key><array>"))
  }

  @Test func identifiersOf155BytesAreTaken() throws {
    let name = String(repeating: "a", count: 155)
    #expect(
      try Entitlements.load(forExecutable: write("<dict><key>\(Self.key)</key>\(Self.array(name))</dict>"))
        .bundleIdentifier == name)
  }

  @Test func filesThatAreNoListAreRefused() throws {
    let directory = try #require(TemporaryDirectory.current)
    let path = Array(directory.file("x").utf8)
    func expect(_ part: String, _ bytes: [UInt8]) throws {
      try FileTree.write(bytes, to: directory.file("x.entitlements"))
      let text = message(.entitlement) { _ = try Entitlements.load(forExecutable: path) }
      #expect(text?.contains(part) == true, "\(text ?? "no error")")
    }
    #expect(
      message(.entitlement) { _ = try Entitlements.load(forExecutable: path) }?.contains("does not exist") == true)
    try expect("is not an XML property list", Array("<plist><dict>".utf8))
    try expect("not in XML", Array("{ \"\(Self.key)\" = (\"a.b\"); }".utf8))
    try expect("not a dictionary", Array("<plist version=\"1.0\"><array/></plist>".utf8))
    try expect("is larger than", [UInt8](repeating: 0x20, count: (1 << 20) + 1))
    // So deep that the parser would leave its stack.
    try expect("arrays and dictionaries", Array(String(repeating: "<array>", count: 140_000).utf8))
    try Shell.script("rm '\(directory.file("x.entitlements"))'; mkfifo '\(directory.file("x.entitlements"))'")
    #expect(
      message(.entitlement) { _ = try Entitlements.load(forExecutable: path) }?.contains("not a regular file") == true)
  }

  @Test("The app's identity: its entitlements, else the environment, else what was set")
  func identity() throws {
    let directory = try #require(TemporaryDirectory.current)
    let nothing = Array(directory.file("nothing").utf8)
    AppIdentity.unset()
    #expect(try AppIdentity.find(executable: nothing, environment: [:]) == nil)
    AppIdentity.set(bundleIdentifier: "set.one", containerPath: [0x2F, 0x63])
    defer { AppIdentity.unset() }
    #expect(
      try AppIdentity.find(executable: nothing, environment: [:])
        == .init(bundleIdentifier: "set.one", containerPath: [0x2F, 0x63]))
    let environment = ["APP_BUNDLE_ID": "environment.one"]
    #expect(
      try AppIdentity.find(executable: nothing, environment: environment) == .init(bundleIdentifier: "environment.one"))
    let access = "<key>\(Self.key)</key>\(Self.array("file.access"))"
    func file(_ body: String) throws -> AppIdentity.Value? {
      try AppIdentity.find(executable: write("<dict>\(body)</dict>"), environment: environment)
    }
    #expect(try file(access)?.bundleIdentifier == "file.access")
    let own = "<key>application-identifier</key><string>TEAM.file.own</string>"
    #expect(try file(access + own)?.bundleIdentifier == "TEAM.file.own")
    let team = "<key>com.apple.developer.team-identifier</key><string>TEAM</string>"
    #expect(try file(own + team)?.bundleIdentifier == "file.own")
    #expect(try file("")?.bundleIdentifier == "environment.one")
    #expect(message(.entitlement) { _ = try file("<key>application-identifier</key><true/>") } != nil)
    #expect(message(.entitlement) { _ = try file("<key>\(Self.key)</key><array/>") } != nil)
    #expect(
      message(.entitlement) {
        _ = try AppIdentity.find(executable: nothing, environment: ["APP_BUNDLE_ID": "../x"])
      }?.contains("APP_BUNDLE_ID") == true)
  }
}
