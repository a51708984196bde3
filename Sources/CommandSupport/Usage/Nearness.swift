/// Finds the word that a person probably meant.
enum Nearness {
    /// The word that differs from the typed one by one or two typing mistakes, or that begins with it.
    ///
    /// - Returns: nil if no word is near enough or several are equally near.
    static func nearest(to word: String, among words: [String]) -> String? {
        let typed = Array(word.utf8)
        // A longer word is not a mistyped command, and the work grows with its length.
        guard (1...40).contains(typed.count) else { return nil }
        if typed.count >= 3 {
            let longer = words.filter { $0.hasPrefix(word) }
            if longer.count == 1 { return longer.first }
        }
        let distances = words.map { (word: $0, distance: distance(typed, Array($0.utf8))) }
        guard let least = distances.map(\.distance).min(), least <= slips(typed.count) else { return nil }
        let nearest = distances.filter { $0.distance == least }
        return nearest.count == 1 ? nearest.first?.word : nil
    }

    /// How many mistakes a word of this length may have.
    private static func slips(_ length: Int) -> Int { length <= 1 ? 0 : length <= 4 ? 1 : 2 }

    /// The number of letters that are changed, left out, added or swapped with their neighbour (optimal string alignment).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var rows = [Array(0...other.count)]
        for (i, letter) in one.enumerated() {
            var row = [i + 1]
            for (j, wanted) in other.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (letter == wanted ? 0 : 1))
                if i > 0, j > 0, letter == other[j - 1], one[i - 1] == wanted {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[one.count][other.count]
    }
}
