// swift-tools-version: 6.2

import PackageDescription

/// No unmarked unsafe code, no warnings, explicit `any`, and an access level on each import that other modules can see.
let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "capture-receiver",
    products: [.executable(name: "receiver", targets: ["receiver"])],
    dependencies: [
        // Outside this repository, use its address and `from:` instead of the path.
        .package(name: "capture-bundle", path: "../.."),
        // The HTTP server.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        // The index of received captures.
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "receiver",
            dependencies: [
                .product(name: "CaptureBundle", package: "capture-bundle"),
                .product(name: "CaptureQueue", package: "capture-bundle"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            swiftSettings: strict)
    ],
    swiftLanguageModes: [.v6]
)
