import Foundation
import PhoneCapture

/// A folder with photo.jpg, metadata.json and perhaps depth.f32.
struct RawFolder {
    private let photo: Data
    private let depth: DepthMap?
    private let time: String
    private let model: String
    private let location: JSONValue?
    private let facts: JSONValue

    /// - Parameter rowPadding: The number of bytes that are put behind each row of the depth map.
    init(_ folder: URL, rowPadding: Int) throws {
        photo = try Data(contentsOf: folder.appendingPathComponent("photo.jpg"))
        let json = try JSONReader.read(Data(contentsOf: folder.appendingPathComponent("metadata.json")))
        guard case .object(let members) = json else { throw Failure("metadata.json is not an object") }
        func member(_ name: String, of members: JSONValue.Members) -> JSONValue? {
            let value = members.first { $0.name == name }?.value
            if case .null = value { return nil }
            return value
        }
        guard case .string(let time) = member("captured_at", of: members),
            case .string(let model) = member("device_model", of: members)
        else { throw Failure("metadata.json has no time or no model") }
        (self.time, self.model, location) = (time, model, member("location", of: members))
        let own = ["captured_at", "device_model", "depth_map_dimensions", "location"]
        facts = .object(members.filter { !own.contains($0.name) })
        let floats = folder.appendingPathComponent("depth.f32")
        guard FileManager.default.fileExists(atPath: floats.path) else {
            depth = nil
            return
        }
        guard case .object(let size) = member("depth_map_dimensions", of: members),
            case .number(let width) = member("width", of: size), case .number(let height) = member("height", of: size),
            let width = Int(width), let height = Int(height)
        else { throw Failure("metadata.json has no dimensions") }
        var bytes = try Data(contentsOf: floats)
        if rowPadding > 0 {
            let padding = Data(repeating: 0xaa, count: rowPadding)
            bytes = Data((0..<height).flatMap { bytes.dropFirst($0 * 4 * width).prefix(4 * width) + padding })
        }
        depth = try DepthMap(
            width: width, height: height, bytes: bytes, bytesPerRow: rowPadding > 0 ? 4 * width + rowPadding : nil)
    }

    /// The capture with the characters of the metadata.
    func capture() throws -> RawCapture {
        try RawCapture(
            photo: photo, capturedAt: CaptureTime(time), deviceModel: model, depth: depth,
            location: location.map { _ in
                try Location(
                    latitude: coordinate("latitude") ?? .null, longitude: coordinate("longitude") ?? .null,
                    altitude: coordinate("altitude"), accuracy: coordinate("accuracy"))
            }, facts: facts)
    }

    private func coordinate(_ name: String) -> JSONValue? {
        guard case .object(let members) = location else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The capture with the values that an app has: a date and a zone, and numbers.
    func typed() throws -> RawCapture {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions.insert(.withFractionalSeconds)
        let hours = time.hasSuffix("Z") ? 0 : Int(time.suffix(6).prefix(3))
        guard let date = formatter.date(from: time), let hours, let zone = TimeZone(secondsFromGMT: hours * 3600) else {
            throw Failure("the time has no milliseconds, or a zone that is not in whole hours")
        }
        func number(_ name: String) -> Double? {
            guard case .number(let text) = coordinate(name) else { return nil }
            return Double(text)
        }
        let place = try location.map { _ in
            try Location(
                latitude: number("latitude") ?? .nan, longitude: number("longitude") ?? .nan,
                altitude: number("altitude"), accuracy: number("accuracy"))
        }
        return try RawCapture(
            photo: photo, capturedAt: CaptureTime(date, zone: zone), deviceModel: model, depth: depth, location: place,
            facts: facts)
    }
}
