// swift-tools-version: 6.2

import PackageDescription

// This is a separate package, so that building the tools does not build it too.
let package = Package(
    name: "queue-bench",
    dependencies: [
        .package(name: "capture-bundle", path: "../.."),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "capqueue-bench",
            dependencies: [
                .product(name: "CaptureQueue", package: "capture-bundle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ],
            path: ".",
            sources: ["main.swift"],
            swiftSettings: [.strictMemorySafety(), .treatAllWarnings(as: .error)])
    ],
    swiftLanguageModes: [.v6]
)
