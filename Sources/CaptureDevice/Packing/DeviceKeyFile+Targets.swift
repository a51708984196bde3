import CaptureBundle
import CaptureNative

extension DeviceKeyFile {
    /// Recognises the bundles of the key's chain. The private key is not read; one in hardware was located before.
    func chainTargets() throws(BundleError) -> ChainTargets {
        guard FileStatus.exists(statePath) else { return ChainTargets(nil) }
        // A damaged state is reported when the counter is taken.
        return ChainTargets(try DeviceKeyState.decode(readPrivate(statePath)))
    }

    /// Examines a place as `targets` does, and looks again if a file is there: another run may have given its bundle this
    /// name, and begun the chain, since `targets` was read.
    func examine(
        _ place: OutputPlace, _ targets: ChainTargets, isForLink: Bool, mayExist: Bool = false
    ) throws(BundleError) {
        do {
            try targets.examine(place, isForLink: isForLink, mayExist: mayExist)
        } catch {
            guard isForLink, error.code == .outputExists else { throw error }
            try chainTargets().examine(place, isForLink: true, mayExist: mayExist)
        }
    }
}
