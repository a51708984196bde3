extension Int {
    /// The number for people, with commas between thousands: `1,431,108`.
    package var grouped: String {
        guard magnitude >= 1000 else { return String(self) }
        let lastThree = Array(String(1000 + magnitude % 1000).utf8.dropFirst())
        return "\((self / 1000).grouped),\(String(decoding: lastThree, as: UTF8.self))"
    }
}
