// swift-tools-version: 6.2

import PackageDescription

/// The settings of all our targets: no unmarked unsafe code, no warnings, explicit `any`, and an access level on each
/// import that other modules can see.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

/// swift-system provides `FilePath`, which holds paths as bytes.
let system: Target.Dependency = .product(name: "SystemPackage", package: "swift-system")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "capture-bundle",
    products: [
        .library(name: "CaptureBundle", targets: ["CaptureBundle"]),
        .library(name: "CaptureDevice", targets: ["CaptureDevice"]),
        .library(name: "CaptureImport", targets: ["CaptureImport", "PictureClient"]),
        .library(name: "CapturePages", targets: ["CapturePages", "PictureClient"]),
        .library(name: "CaptureQueue", targets: ["QueueModel", "QueueTransports", "QueueFiles", "CaptureQueue"]),
        .executable(name: "capbundle", targets: ["capbundle"]),
        .executable(name: "capqueue", targets: ["capqueue"]),
        .executable(name: "capbundle-decode", targets: ["capbundle-decode"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibArchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSpng", providers: [.apt(["libspng-dev"])]),
        .systemLibrary(name: "CTurboJPEG", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "COpenEXR", providers: [.apt(["libopenexr-dev"])]),
        .systemLibrary(name: "CTiff", providers: [.apt(["libtiff-dev"])]),
        .systemLibrary(name: "CHeif", providers: [.apt(["libheif-dev"])]),
        .systemLibrary(name: "CSandbox"),
        .target(name: "CICUData", swiftSettings: strict),

        .target(
            name: "CaptureNative",
            dependencies: ["CLinux", "CZlib", "CLibDeflate", "COpenSSL", system],
            swiftSettings: strict),
        // PictureMessages is what the tools and capbundle-decode say to each other. PictureDecoding calls the decoders:
        // it is part of capbundle-decode only, which links no other library of ours.
        .target(name: "PictureMessages", swiftSettings: strict),
        .target(
            name: "PictureDecoding",
            dependencies: [
                "PictureMessages", "CSpng", "CTurboJPEG", "COpenEXR", "CTiff", "CHeif", "CLibArchive", "CSandbox",
                "CZlib",
            ],
            swiftSettings: strict),
        .executableTarget(name: "capbundle-decode", dependencies: ["PictureDecoding"], swiftSettings: strict),

        // CaptureBundle is the format, and what a server links. CaptureDevice has a device's key, and packs captures
        // that CaptureImport has read from the files of cameras and apps. CapturePages makes what people look at.
        // PictureClient starts capbundle-decode and limits it.
        .target(name: "CaptureBundle", dependencies: ["CaptureNative", system], swiftSettings: strict),
        .target(
            name: "PictureClient", dependencies: ["CaptureBundle", "CaptureNative", "PictureMessages", system],
            swiftSettings: strict),
        .target(
            name: "CaptureDevice", dependencies: ["CaptureBundle", "CaptureNative", system], swiftSettings: strict),
        .target(
            name: "CaptureImport",
            dependencies: [
                "CaptureDevice", "PictureClient", "PictureMessages", "CaptureBundle", "CaptureNative", system,
            ],
            swiftSettings: strict),
        .target(
            name: "CapturePages",
            dependencies: ["PictureClient", "PictureMessages", "CaptureBundle", "CaptureNative", system],
            swiftSettings: strict),
        .target(name: "CurlClient", dependencies: ["CCurl", "CaptureNative", system], swiftSettings: strict),
        // QueueModel has values and pure decisions, QueueTransports sends bytes to a destination, QueueFiles has the
        // folder of a queue with its spool, and CaptureQueue is the store.
        .target(name: "QueueModel", dependencies: ["CaptureBundle", "CaptureNative", system], swiftSettings: strict),
        .target(
            name: "QueueTransports",
            dependencies: ["QueueModel", "CaptureBundle", "CaptureNative", "CurlClient", system],
            swiftSettings: strict),
        .target(
            name: "QueueFiles", dependencies: ["QueueModel", "CaptureBundle", "CaptureNative", system],
            swiftSettings: strict),
        .target(
            name: "CaptureQueue",
            dependencies: [
                "QueueFiles", "QueueModel", "QueueTransports", "CaptureBundle", "CaptureNative", system,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(
            name: "CommandSupport",
            dependencies: [
                "CaptureNative", "CaptureBundle", "CaptureDevice", "CaptureImport", "CapturePages", "PictureClient",
                "PictureMessages", system, argumentParser,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "capbundle",
            dependencies: [
                "CaptureBundle", "CaptureDevice", "CaptureImport", "CapturePages", "PictureClient", "PictureMessages",
                "CaptureNative",
                "CommandSupport", system, argumentParser,
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "capqueue",
            dependencies: [
                "CaptureQueue", "QueueFiles", "QueueTransports", "QueueModel", "CaptureBundle", "CaptureDevice",
                "CaptureImport", "CapturePages", "CaptureNative", "CommandSupport", "CICUData", system, argumentParser,
            ],
            swiftSettings: strict),

        .target(
            name: "CaptureTestSupport",
            dependencies: ["CaptureBundle", "CaptureDevice", "CaptureImport", system],
            path: "Tests/CaptureTestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "CaptureNativeTests",
            dependencies: ["CaptureNative", "CaptureTestSupport", system],
            swiftSettings: strict),
        .testTarget(
            name: "CaptureBundleTests",
            dependencies: [
                "CaptureBundle", "CaptureDevice", "CaptureImport", "CapturePages", "PictureClient", "PictureMessages",
                "CaptureNative",
                "CaptureTestSupport", "CLibArchive", "capbundle-decode", system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CaptureImportTests",
            dependencies: [
                "CaptureImport", "CaptureDevice", "CapturePages", "PictureClient", "PictureMessages", "CaptureBundle",
                "CaptureNative", "CaptureTestSupport", "CommandSupport", "capbundle-decode", system,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "QueueModelTests",
            dependencies: ["QueueModel", "CaptureBundle", "CaptureTestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "QueueTransportsTests",
            dependencies: [
                "QueueTransports", "QueueModel", "CurlClient", "CaptureBundle", "CaptureNative", "CaptureTestSupport",
                system,
            ],
            exclude: ["Servers"],
            swiftSettings: strict),
        .testTarget(
            name: "CaptureQueueTests",
            dependencies: [
                "CaptureQueue", "QueueFiles", "QueueTransports", "QueueModel", "CaptureBundle", "CaptureNative",
                "CaptureTestSupport", system, .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Servers"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: [
                "CaptureTestSupport", "CaptureBundle", "CaptureDevice", "CaptureImport", "CapturePages",
                "CommandSupport", "PictureClient", "capbundle", "capbundle-decode", "capqueue", system,
            ],
            exclude: ["Transcripts"],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Tests/Fuzz/run.py sets this variable. libFuzzer needs other compiler options than the other programs.
if Context.environment["CAPBUNDLE_FUZZ"] != nil {
    package.products.append(.executable(name: "fuzz", targets: ["Fuzz"]))
    package.targets += [
        .target(name: "CSanitizers", path: "Tests/Fuzz/CSanitizers"),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CSanitizers", "CaptureBundle", "CaptureDevice", "CaptureImport", "PictureClient", "PictureMessages",
                "CaptureNative",
                "CaptureTestSupport", system,
            ],
            path: "Tests/Fuzz/Fuzz", swiftSettings: strict),
    ]
}

// The builds of the benches set this variable. capqueue-bench times changes of the database, for which no product has an
// entrance, so it imports CaptureQueue as tests do.
if Context.environment["CAPQUEUE_BENCH"] != nil {
    package.products.append(.executable(name: "capqueue-bench", targets: ["capqueue-bench"]))
    package.targets.first { $0.name == "CaptureQueue" }?.swiftSettings =
        strict + [
            .unsafeFlags(["-enable-testing"], .when(configuration: .release))
        ]
    package.targets.append(
        .executableTarget(
            name: "capqueue-bench",
            dependencies: [
                "CaptureQueue", "QueueFiles", "QueueTransports", "QueueModel", "CaptureBundle", system,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Tests/QueueBench", swiftSettings: strict))
}
