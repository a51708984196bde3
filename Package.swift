// swift-tools-version: 6.2

import PackageDescription

/// Every target of ours: no unmarked unsafe code, no warning, explicit `any`, imports that say who sees them.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// The tools carry the Swift runtime in themselves: they start in two thirds of the time and need no Swift on the machine.
/// `--static-swift-stdlib` does the same for a whole build, but then no tests can be built in the same folder. The three
/// libraries after it are parts of FoundationEssentials (used by ArgumentParser) that only that option links by itself.
let staticStandardLibrary: [LinkerSetting] = [
    .unsafeFlags([
        "-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims", "-lswiftSynchronization",
        "-use-ld=lld", "-Xlinker", "-s", "-Xlinker", "-z",
        "-Xlinker", "pack-relative-relocs",
    ])
]

/// GRDB brings Foundation, whose parts the static library does not name by itself either.
let staticFoundation: [LinkerSetting] = [
    .unsafeFlags([
        "-lFoundation", "-lFoundationInternationalization", "-lFoundationEssentials", "-l_FoundationICU",
        "-lCoreFoundation", "-lswiftDispatch", "-ldispatch", "-lBlocksRuntime", "-lstdc++",
    ])
]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "capture-bundle",
    products: [
        .library(name: "CaptureBundle", targets: ["CaptureBundle"]),
        .library(name: "CaptureQueue", targets: ["CaptureQueue"]),
        .executable(name: "capbundle", targets: ["capbundle"]),
        .executable(name: "capqueue", targets: ["capqueue"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),

        .target(
            name: "CaptureNative",
            dependencies: ["CLinux", "CZlib", "CLibDeflate", "COpenSSL", "CLibArchive"],
            swiftSettings: strict),
        .target(name: "CaptureBundle", dependencies: ["CaptureNative"], swiftSettings: strict),
        .target(name: "CurlTransport", dependencies: ["CCurl", "CaptureNative"], swiftSettings: strict),
        .target(
            name: "CaptureQueue",
            dependencies: [
                "CaptureBundle", "CaptureNative", "CurlTransport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "CommandSupport",
            dependencies: ["CaptureNative", "CaptureBundle", argumentParser],
            swiftSettings: strict),
        .executableTarget(
            name: "capbundle",
            dependencies: ["CaptureBundle", "CommandSupport", argumentParser],
            swiftSettings: strict,
            linkerSettings: staticStandardLibrary),
        .executableTarget(
            name: "capqueue",
            dependencies: ["CaptureQueue", "CaptureBundle", "CaptureNative", "CommandSupport", argumentParser],
            swiftSettings: strict,
            linkerSettings: staticStandardLibrary + staticFoundation),
        .executableTarget(
            name: "capqueue-bench",
            dependencies: ["CaptureQueue", "CaptureBundle", "CaptureNative"],
            path: "Tests/QueueBench",
            swiftSettings: strict,
            linkerSettings: staticStandardLibrary + staticFoundation),

        .target(
            name: "CaptureTestSupport",
            dependencies: ["CaptureBundle"],
            path: "Tests/CaptureTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "CaptureNativeTests",
            dependencies: ["CaptureNative", "CaptureTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "CaptureBundleTests",
            dependencies: ["CaptureBundle", "CaptureNative", "CaptureTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "CaptureQueueTests",
            dependencies: [
                "CaptureQueue", "CaptureBundle", "CaptureNative", "CaptureTestSupport",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Databases"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: ["CaptureTestSupport"],
            exclude: ["Transcripts"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
