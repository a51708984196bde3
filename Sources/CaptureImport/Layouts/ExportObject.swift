import CaptureBundle
import SystemPackage

/// An object in a JSON file of an app. Each member is checked when it is read, and errors name the file.
struct ExportObject {
    private let root: JSONValue
    let file: FilePath

    /// - Throws: `raw.capture` if the value is not an object.
    init(_ root: JSONValue, file: FilePath) throws(BundleError) {
        guard root.members != nil else {
            throw BundleError(.rawCapture, "is \(root.kind), expected an object", file: file)
        }
        self.root = root
        self.file = file
    }

    /// Reads the object that is the whole of a file.
    init(reading path: FilePath, in tree: RawTree, limit: Int) throws(BundleError) {
        try self.init(tree.json(path, limit: limit), file: tree.label(path))
    }

    /// An error about this file.
    func wrong(_ message: String) -> BundleError { BundleError(.rawCapture, message, file: file) }

    /// The value of a member; nil if it is missing or null.
    subscript(name: String) -> JSONValue? {
        guard let value = root[name] else { return nil }
        if case .null = value { return nil }
        return value
    }

    /// The value of a member that is a finite number; nil if it is missing or null.
    func number(_ name: String) throws(BundleError) -> Double? {
        guard let value = self[name] else { return nil }
        guard let number = value.finite else { throw wrong("\(name) is \(value.shown), expected a finite number") }
        return number
    }

    /// A side of a picture: 1 to 65535 pixels, the most that a JPEG can have.
    func side(_ name: String) throws(BundleError) -> Int? {
        guard let number = try number(name) else { return nil }
        guard let side = Int(exactly: number), (1...65535).contains(side) else {
            throw wrong("\(name) is \(number), expected 1 to 65535 pixels")
        }
        return side
    }

    /// The value of a member that is an array; nil if it is missing or null.
    func array(_ name: String) throws(BundleError) -> [JSONValue]? {
        try self[name].map { value throws(BundleError) in try elements(of: value, name) }
    }

    /// The value of a member that is an array of exactly `count` finite numbers; nil if it is missing or null.
    func numbers(_ name: String, count: Int) throws(BundleError) -> [Double]? {
        try self[name].map { value throws(BundleError) in try numbers(value, count: count, name: name) }
    }

    private func elements(of value: JSONValue, _ name: String) throws(BundleError) -> [JSONValue] {
        guard let elements = value.elements else { throw wrong("\(name) is \(value.kind), expected an array") }
        return elements
    }

    /// The elements of an array of exactly `count` finite numbers.
    ///
    /// - Parameter name: The name of the array for messages.
    func numbers(_ value: JSONValue, count: Int, name: String) throws(BundleError) -> [Double] {
        let elements = try elements(of: value, name)
        let numbers = elements.compactMap(\.finite)
        guard elements.count == count, numbers.count == count else {
            throw wrong("\(name) has \(elements.count) elements, expected \(count) finite numbers")
        }
        return numbers
    }
}

extension JSONValue {
    /// The value of a number; nil for everything else and for a number beyond Double.
    var finite: Double? {
        guard let text = numberText, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// For messages: the digits of a number as they were written, or the kind of any other value.
    fileprivate var shown: String { numberText ?? kind }
}

// MARK: - Cameras

extension ExportObject {
    /// Checks the numbers of a pinhole camera.
    ///
    /// - Parameter size: The size of the picture to which the numbers belong, if it is known.
    func camera(
        fx: Double, fy: Double, cx: Double, cy: Double, size: (width: Int, height: Int)?
    ) throws(BundleError) -> CameraIntrinsics {
        let focal = 1e-3...1e7
        guard focal.contains(fx), focal.contains(fy), abs(cx) <= 1e7, abs(cy) <= 1e7 else {
            throw wrong("the camera has fx \(fx), fy \(fy), cx \(cx), cy \(cy), expected values in pixels of the photo")
        }
        return CameraIntrinsics(fx: fx, fy: fy, cx: cx, cy: cy, width: size?.width, height: size?.height)
    }

    /// Checks a pose: 16 numbers, row-major, camera to world, in metres.
    func pose(_ matrix: [Double], name: String) throws(BundleError) -> CameraPose {
        guard let pose = CameraPose(matrix), pose.isRigid else {
            throw wrong("\(name) is not a rotation with a translation, expected a camera-to-world matrix in metres")
        }
        return pose
    }
}

extension CameraPose {
    /// Whether the matrix rotates and moves, but neither scales nor mirrors. Apps write Float32, so the tolerance is
    /// large.
    fileprivate var isRigid: Bool {
        let rows = [0, 4, 8].map { Array(matrix[$0..<$0 + 3]) }
        func product(_ one: [Double], _ other: [Double]) -> Double { zip(one, other).map(*).reduce(0, +) }
        let tolerance = 1e-3
        for one in 0..<3 {
            for other in one..<3 where abs(product(rows[one], rows[other]) - (one == other ? 1 : 0)) > tolerance {
                return false
            }
        }
        let (x, y, z) = (rows[0], rows[1], rows[2])
        let cross = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
        let last = matrix[12..<16].enumerated().allSatisfy { abs($1 - ($0 == 3 ? 1 : 0)) <= tolerance }
        return product(cross, z) > 0 && last
    }

    /// Creates a pose from a rotation and a translation.
    ///
    /// - Parameters:
    ///   - quaternion: x, y, z, w; it gets normalised.
    ///   - translation: x, y, z.
    /// - Returns: nil if the length of the quaternion is far from 1.
    init?(quaternion: [Double], translation: [Double]) {
        guard quaternion.count == 4, translation.count == 3 else { return nil }
        let length = quaternion.map { $0 * $0 }.reduce(0, +).squareRoot()
        guard abs(length - 1) <= 1e-2 else { return nil }
        let unit = quaternion.map { $0 / length }
        let (x, y, z, w) = (unit[0], unit[1], unit[2], unit[3])
        self.init([
            1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), translation[0],
            2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), translation[1],
            2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y), translation[2],
            0, 0, 0, 1,
        ])
    }
}
