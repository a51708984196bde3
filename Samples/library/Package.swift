// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "capture-rig",
    dependencies: [
        // Replace example.org with the repository that you clone from.
        .package(url: "https://example.org/capture-bundle.git", from: "1.0.0"),
        // swift-system provides FilePath, the type of all paths.
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "seal-and-check",
            dependencies: [
                .product(name: "CaptureBundle", package: "capture-bundle"),
                .product(name: "CaptureImport", package: "capture-bundle"),
                .product(name: "CaptureDevice", package: "capture-bundle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(
            name: "check-bundle",
            dependencies: [
                .product(name: "CaptureBundle", package: "capture-bundle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(
            name: "send-capture",
            dependencies: [
                .product(name: "CaptureImport", package: "capture-bundle"),
                .product(name: "CaptureDevice", package: "capture-bundle"),
                .product(name: "CaptureQueue", package: "capture-bundle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
        .executableTarget(
            name: "push-to-queue",
            dependencies: [
                .product(name: "CaptureQueue", package: "capture-bundle"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]),
    ]
)
