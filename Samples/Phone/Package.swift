// swift-tools-version: 6.2

import PackageDescription

/// Here, no unmarked unsafe code and no warnings. Apple's compilers, which were never tried, may warn of something else.
let strict: [SwiftSetting] = [
    .strictMemorySafety(.when(platforms: [.linux])),
    .treatAllWarnings(as: .error, .when(platforms: [.linux])),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// On Apple's systems the library uses CryptoKit, which swift-crypto imitates for the others.
let crypto: Target.Dependency = .product(
    name: "Crypto", package: "swift-crypto", condition: .when(platforms: [.linux]))

let package = Package(
    name: "phone-capture",
    platforms: [.iOS(.v16), .macOS(.v13)],
    products: [.library(name: "PhoneCapture", targets: ["PhoneCapture"])],
    dependencies: [.package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2")],
    targets: [
        .target(name: "PhoneCapture", dependencies: [crypto], swiftSettings: strict),
        // Packs a raw folder; only the tests use it.
        .executableTarget(name: "phone-pack", dependencies: ["PhoneCapture", crypto], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
