import AppMigrationKit
import Testing

/// Each use compiles only while the declaration is as documented: its names, labels, defaults, types and conformances.
@Suite("Declarations")
struct DeclarationTests {
  private func isSendable<Value: Sendable>(_ type: Value.Type) {}
  private func isCodable<Value: Codable>(_ type: Value.Type) {}
  private func isHashable<Value: Hashable>(_ type: Value.Type) {}
  private func isRaw<Value: RawRepresentable>(_ type: Value.Type) where Value.RawValue == String {}
  private func isCaseIterable<Value: CaseIterable>(_ type: Value.Type) where Value.AllCases == [Value] {}

  @Test("Extensions: base protocols")
  func baseProtocols() throws {
    func base<Extension: AppExtension>(_ type: Extension.Type) -> (
      make: @MainActor () -> Extension, configuration: @MainActor (Extension) -> Extension.Configuration,
      main: () throws -> Void
    ) {
      isSendable(Extension.Configuration.self)
      return ({ Extension() }, { $0.configuration }, { try Extension.main() })
    }
    func migration<Extension: AppMigrationExtension>(_ type: Extension.Type) -> (Extension) -> MigrationDataContainer {
      isSendable(type)
      _ = base(type)
      return { $0.appContainer }
    }
    func configuration<Value: AppExtensionConfiguration>(_ type: Value.Type) {}
    func isExtension<Extension: AppMigrationExtension>(_ type: Extension.Type) {
      configuration(Extension.Configuration.self)
    }
    isExtension(BareExtension.self)
    _ = migration(BareExtension.self)
    let erased: any AppMigrationExtension.Type = BareExtension.self
    #expect(!(erased is any ResourcesImporting.Type) && !(erased is any ResourcesExportingWithOptions.Type))
  }

  @Test("Extensions: export") @MainActor
  func exportProtocols() async {
    func members<Extension: ResourcesExportingWithOptions>(_ instance: Extension) async -> (Int, String, Bool) {
      func option<Option: CaseIterable & Hashable & RawRepresentable & Sendable>(_ type: Option.Type)
      where Option.RawValue == String {}
      option(Extension.OptionsType.self)
      let export: (sending ResourcesArchiver, MigrationRequestWithOptions<Extension.OptionsType>) async throws -> Void =
        {
          try await instance.exportResources(to: $0, request: $1)
        }
      _ = export
      return (await instance.resourcesSizeEstimate, instance.resourcesVersion, instance.resourcesCompressible)
    }
    func plain<Extension: ResourcesExporting>(_ type: Extension.Type) -> Bool
    where Extension.OptionsType == MigrationDefaultSupportedOptions {
      let parent: any ResourcesExportingWithOptions.Type = type
      return ObjectIdentifier(parent) == ObjectIdentifier(type)
    }
    #expect(plain(ScriptedExporter.self))
    #expect(await members(ScriptedExporter()) == (77, "scripted", false))
  }

  @Test("Extensions: import") @MainActor
  func importProtocol() async throws {
    func members<Extension: ResourcesImporting>(_ instance: Extension) -> (
      (URL, ResourcesImportRequest) async throws -> Void, () -> Progress
    ) {
      (
        { try await instance.importResources(at: $0, request: $1) }, { instance.resourcesImportProgress }
      )
    }
    let (_, progress) = members(StoredProgressImporter())
    #expect(progress().totalUnitCount == 3)
  }

  @Test("The archiver: a class, one method with a default")
  func archiver() async throws {
    let long: (ResourcesArchiver) -> (URL, String?) async throws -> Void = { archiver in
      { try await archiver.appendItem(at: $0, pathInArchive: $1) }
    }
    let short: (ResourcesArchiver) -> (URL) async throws -> Void = { archiver in
      { try await archiver.appendItem(at: $0) }
    }
    _ = (long, short)
    let object: AnyObject = ResourcesArchiver(sink: ItemDropper())
    #expect(!(object is any Sequence))
  }

  @Test("Requests with options")
  func requests() {
    let empty = MigrationRequestWithOptions<Option>(destinationPlatform: .android)
    #expect(empty.options.isEmpty && empty.destinationPlatform == .android)
    let request = MigrationRequestWithOptions(destinationPlatform: .android, options: [Option.one: Data([1])])
    let options: [Option: Data] = request.options
    #expect(options == [.one: Data([1])])
    let plain: MigrationRequest = MigrationRequestWithOptions<MigrationDefaultSupportedOptions>(
      destinationPlatform: MigrationPlatform("windows"), options: [:])
    #expect(plain.destinationPlatform.rawValue == "windows" && plain.options.isEmpty)
    isSendable(MigrationRequest.self)
    #expect(!((request as Any) is any Equatable) && !((request as Any) is any Encodable))
  }

  @Test("Default options: no cases")
  func defaultOptions() {
    let cases: MigrationDefaultSupportedOptions.AllCases = MigrationDefaultSupportedOptions.allCases
    let typed: [MigrationDefaultSupportedOptions] = cases
    #expect(typed.isEmpty)
    let raw: MigrationDefaultSupportedOptions.RawValue = "x"
    #expect(MigrationDefaultSupportedOptions(rawValue: raw) == nil)
    let value: KeyPath<MigrationDefaultSupportedOptions, String> = \.rawValue
    _ = value
    isCaseIterable(MigrationDefaultSupportedOptions.self)
    isHashable(MigrationDefaultSupportedOptions.self)
    isRaw(MigrationDefaultSupportedOptions.self)
    isSendable(MigrationDefaultSupportedOptions.self)
  }

  @Test("Import requests and app identifiers")
  func identifiers() throws {
    let source = MigrationAppIdentifier(
      storeIdentifier: MigrationAppIdentifier.StoreIdentifier.googlePlay, bundleIdentifier: "b", platform: .android)
    let request = ResourcesImportRequest(sourceAppIdentifier: source, sourceVersion: "1")
    let identifier: MigrationAppIdentifier = request.sourceAppIdentifier
    let (store, bundle, platform): (MigrationAppIdentifier.StoreIdentifier, String, MigrationPlatform) =
      (identifier.storeIdentifier, identifier.bundleIdentifier, identifier.platform)
    #expect(store == .googlePlay && bundle == "b" && platform == .android && request.sourceVersion == "1")
    isSendable(ResourcesImportRequest.self)
    isSendable(MigrationAppIdentifier.self)
    isCodable(MigrationAppIdentifier.self)
    #expect(!((source as Any) is any Equatable))
    let coder = JSONEncoder()
    coder.outputFormatting = .sortedKeys
    let coded = try coder.encode(source)
    #expect(
      String(decoding: coded, as: UTF8.self)
        == #"{"bundleIdentifier":"b","platform":"android","storeIdentifier":"com.android.vending"}"#)
    let decoded = try JSONDecoder().decode(MigrationAppIdentifier.self, from: coded)
    #expect(decoded.storeIdentifier == store && decoded.bundleIdentifier == "b" && decoded.platform == platform)
  }

  @Test("Stores and platforms: raw values, coded as one string")
  func rawValues() throws {
    isHashable(MigrationAppIdentifier.StoreIdentifier.self)
    isRaw(MigrationAppIdentifier.StoreIdentifier.self)
    isCodable(MigrationAppIdentifier.StoreIdentifier.self)
    isSendable(MigrationAppIdentifier.StoreIdentifier.self)
    isHashable(MigrationPlatform.self)
    isRaw(MigrationPlatform.self)
    isCodable(MigrationPlatform.self)
    isSendable(MigrationPlatform.self)
    let storeRaw: MigrationAppIdentifier.StoreIdentifier.RawValue = "com.android.vending"
    let platformRaw: MigrationPlatform.RawValue = "android"
    let (store, platform): (MigrationAppIdentifier.StoreIdentifier, MigrationPlatform) =
      (.init(rawValue: storeRaw), .init(rawValue: platformRaw))
    #expect(store == .googlePlay && store == .init(storeRaw) && store.rawValue == storeRaw)
    #expect(platform == .android && platform == .init(platformRaw) && platform.rawValue == platformRaw)
    #expect(MigrationPlatform("Android") != .android)
    #expect(String(decoding: try JSONEncoder().encode([store]), as: UTF8.self) == #"["com.android.vending"]"#)
    #expect(String(decoding: try JSONEncoder().encode([platform]), as: UTF8.self) == #"["android"]"#)
    #expect(try JSONDecoder().decode([MigrationPlatform].self, from: Data(#"["windows"]"#.utf8)) == [.init("windows")])
  }

  @Test("The container: two members can be set")
  func container() {
    var container = MigrationDataContainer(bundleIdentifier: "b", containerRootDirectory: URL(fileURLWithPath: "/c"))
    let (bundle, root): (String, URL) = (container.bundleIdentifier, container.containerRootDirectory)
    #expect(bundle == "b" && root.path == "/c")
    #expect(container.documentsDirectory.path == "/c/Documents")
    #expect(container.applicationSupportDirectory.path == "/c/Library/Application Support")
    container.documentsDirectory = URL(fileURLWithPath: "/d")
    container.applicationSupportDirectory = URL(fileURLWithPath: "/s")
    #expect(container.documentsDirectory.path == "/d" && container.applicationSupportDirectory.path == "/s")
    isSendable(MigrationDataContainer.self)
  }

  @Test("App groups, outside of a run")
  func appGroups() {
    let url: URL? = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: "group.x")
    #expect(url == nil)
  }
}

private enum Option: String, CaseIterable, Sendable {
  case one
}

/// Conforms to the base protocol alone: all that it has comes from the module.
private struct BareExtension: AppMigrationExtension {}

private struct StoredProgressImporter: ResourcesImporting {
  let resourcesImportProgress = Progress(totalUnitCount: 3)

  func importResources(at url: URL, request: ResourcesImportRequest) async throws {}
}
