import CaptureTestSupport
import Foundation

/// What libFuzzer runs in this process: the target that the environment variable CAPBUNDLE_FUZZ_TARGET names.
private let chosen: any FuzzTarget.Type = {
    let name = ProcessInfo.processInfo.environment["CAPBUNDLE_FUZZ_TARGET"] ?? ""
    for target in allTargets where target.name == name { return target }
    fatalError("CAPBUNDLE_FUZZ_TARGET is \"\(name)\", which is not the name of a target")
}()

/// libFuzzer calls this function once, before the first input.
///
/// With `CAPBUNDLE_FUZZ_SEEDS=FOLDER` the program writes the seeds of all targets below FOLDER, prints the targets'
/// names, and ends.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?,
    _ words: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    if let folder = ProcessInfo.processInfo.environment["CAPBUNDLE_FUZZ_SEEDS"] {
        do {
            try writeSeeds(URL(filePath: folder))
        } catch {
            fatalError("the seeds cannot be written: \(error)")
        }
        exit(0)
    }
    Cost.prepare()
    chosen.prepare()
    return 0
}

/// libFuzzer calls this function with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: data, count: size))
    chosen.judge(bytes)
    return 0
}

private func writeSeeds(_ folder: URL) throws {
    let samples = try Samples()
    for target in allTargets {
        let place = folder.appending(path: target.name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for (number, seed) in try target.seeds(samples).enumerated() {
            try Data(seed).write(to: place.appending(path: "seed-\(number)"))
        }
        print(target.name)
    }
}
