package import CaptureBundle
import CaptureNative
public import SystemPackage

/// Reserves the counters of a key that signs for RealityCam (Spec/upload.md section 6.4). Counters are marked as used on
/// the disk before they are returned.
extension DeviceKeyFile {
    /// The default path of the key: `$XDG_DATA_HOME/capbundle/realitycam.key`.
    public static var usualRealityCamPath: FilePath { usualPath.folder.appending("realitycam.key") }

    /// The number of counters for a body: the highest is for its assertion, the others for the headers of its requests.
    static let countersOfBody = 16

    /// Reserves the counters for a body, and returns the counter of its assertion.
    func reserveRealityCamBody(for device: DeviceKey) throws(BundleError) -> UInt32 {
        try changeRealityCamState(for: device) { state in
            try advance(&state, by: Self.countersOfBody) + UInt32(Self.countersOfBody - 1)
        }
    }

    /// Reserves the counter of a header for a request with a body whose assertion has the counter `assertion`.
    ///
    /// - Throws: `key.state` if no counter below it is left.
    func reserveRealityCamHeader(below assertion: UInt32, for device: DeviceKey) throws(BundleError) -> UInt32 {
        try changeRealityCamState(for: device) { state in
            guard assertion <= state.counter else {
                throw BundleError(
                    .keyState, "the body has counter \(assertion), but the key has only reached \(state.counter)",
                    cause: .bodyUsedUp, values: [path.string])
            }
            let last = state.realityCamHeader ?? 0
            guard assertion > 0, last < assertion - 1 else {
                throw BundleError(
                    .keyState,
                    "the body has counter \(assertion) and the last request had \(last), so no counter is left between",
                    cause: .bodyUsedUp, values: [path.string])
            }
            let lowest = assertion - min(assertion - 1, UInt32(Self.countersOfBody - 1))
            let header = max(last + 1, lowest)
            state.realityCamHeader = header
            return header
        }
    }

    /// Reserves the counters for one request that is sent before anything else is signed.
    ///
    /// - Returns: The counter of the header, and that of the assertion, which is the next one.
    package func reserveRealityCamRequest(
        withAssertion: Bool, for device: DeviceKey
    ) throws(BundleError) -> (header: UInt32, assertion: UInt32?) {
        try changeRealityCamState(for: device) { state in
            let header = try advance(&state, by: withAssertion ? 2 : 1)
            state.realityCamHeader = header
            return (header, withAssertion ? header + 1 : nil)
        }
    }

    private func changeRealityCamState<Value>(
        for device: DeviceKey, _ change: (inout DeviceKeyState) throws -> Value
    ) throws(BundleError) -> Value {
        try locked {
            try refuseSecondName()
            var state = try readState(of: device.point.keyID)
            try adoptForRealityCam(&state)
            let value = try change(&state)
            try save(state)
            return value
        }
    }

    /// Marks the state of an unused key as one for RealityCam. A key that signs bundles is refused: counters of bundles
    /// and of uploads would mix, and the server would learn which device made the bundles.
    func adoptForRealityCam(_ state: inout DeviceKeyState) throws(BundleError) {
        guard state.realityCamHeader == nil else { return }
        guard state.counter == 0 else {
            throw fault(
                .keyState, "this key signs bundles, expected a key that signs only for RealityCam", .forBundles)
        }
        state.realityCamHeader = 0
    }
}
