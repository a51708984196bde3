import Foundation

#if canImport(Testing)
    public import Testing
#endif

/// Whether this is a run of `make test-all`, which plays long tests too. The Python tests read the same variable
/// (Tests/Kit/outcomes.py).
public let isLongRun = ProcessInfo.processInfo.environment["CAPTURE_TESTS"] == "all"

// A release build, and that of the fuzz targets, compile this target without Swift Testing.
#if canImport(Testing)
    extension Trait where Self == ConditionTrait {
        /// Marks a test that takes more than 3 seconds, or that waits: only `make test-all` plays it.
        public static var long: Self {
            .enabled(if: isLongRun, "a test of make test-all")
        }
    }
#endif
