import CaptureBundle
import CapturePages
import CommandSupport

/// Prints the statistics and the analysis of a depth map, as text or as JSON (Spec/command-line.md section 3).
enum DepthRendering {
    static let report = "capture-bundle/depth/1"

    private static func percentiles(of depth: DepthSamples) -> [(percent: Int, name: String, value: Float)] {
        let sorted = depth.isComplete ? depth.measured : []
        return [(2, "p02_m"), (25, "p25_m"), (75, "p75_m"), (98, "p98_m")].compactMap { percent, name in
            DepthGrid.percentile(percent, of: sorted).map { (percent, name, $0) }
        }
    }

    static func page(_ file: String, _ depth: DepthSamples) -> [String] {
        ["\(Visible.text(file)): \(headline(depth.analysis))"] + statistics(depth).lines + analysis(depth)
    }

    private static func headline(_ analysis: DepthAnalysis?) -> String {
        guard let analysis else { return "a RealityCam server refuses this size" }
        let words =
            switch analysis.verdict {
            case .pass: Style.good.output("real scene")
            case .fail:
                "\(Style.bad.output("not a real scene")): \(analysis.failures.map(word).joined(separator: ", "))"
            case .unavailable: "depth analysis \(Style.doubtful.output("unavailable"))"
            }
        return "a RealityCam server would say: \(words)"
    }

    /// Why a condition is not met.
    private static func word(_ condition: DepthAnalysis.Condition) -> String {
        switch condition {
        case .standardDeviation: "standard deviation too small"
        case .layers: "too few layers"
        case .edgeCoherence: "edge coherence too small"
        case .screen: "looks like a screen"
        }
    }

    private static func statistics(_ depth: DepthSamples) -> TextTable {
        var table = TextTable()
        let statistics = depth.statistics
        table.add("samples", "\(depth.size)")
        table.add("measured", percent(statistics.measuredShare))
        addMeaningless(statistics, to: &table)
        table.add("nearest", metres(statistics.minimum))
        let shares = percentiles(of: depth)
        func add(_ shares: some Sequence<(percent: Int, name: String, value: Float)>) {
            for share in shares { table.add("nearest \(share.percent) %", "up to \(metres(share.value))") }
        }
        add(shares.filter { $0.percent < 50 })
        table.add("median", median(statistics, isComplete: depth.isComplete))
        add(shares.filter { $0.percent > 50 })
        table.add("farthest", metres(statistics.maximum))
        table.add("plausible", depth.implausibility.map { "NO: \($0)" } ?? "yes, this can be metres")
        return table
    }

    private static func analysis(_ depth: DepthSamples) -> [String] {
        guard let analysis = depth.analysis else {
            return ["RealityCam analysis: none, because a side has more than \(UploadAdvice.depthSide) samples"]
        }
        guard let measures = analysis.measures else {
            return ["RealityCam analysis: none, because no sample is between 0.1 and 20 m"]
        }
        typealias Threshold = DepthAnalysis.Threshold
        var table = TextTable()
        func add(_ condition: DepthAnalysis.Condition, _ name: String, value: String, needed: String) {
            table.add(name, value, needed, analysis.failures.contains(condition) ? "NOT met" : "met")
        }
        add(
            .standardDeviation, "standard deviation", value: metres(measures.standardDeviation),
            needed: "more than \(Threshold.standardDeviation) m")
        add(.layers, "layers", value: String(measures.layers), needed: "at least \(Threshold.layers)")
        add(
            .edgeCoherence, "edge coherence", value: Rounded.decimal(measures.edgeCoherence, places: 3),
            needed: "more than \(Threshold.edgeCoherence)")
        add(.screen, "like a screen", value: analysis.looksLikeAScreen ? "yes" : "no", needed: "must not be")
        table.add("  range", metres(measures.range), "  a screen: less than \(Threshold.screenRange) m")
        table.add(
            "  near the median", percent(measures.nearMedianShare),
            "  a screen: more than \(percent(Threshold.screenShare))")
        let mean = Threshold.screenMean
        table.add("  mean", metres(measures.mean), "  a screen: \(mean.lowerBound) to \(mean.upperBound) m")
        return ["RealityCam analysis of the \(Quantity.count(analysis.used, "sample")) between 0.1 and 20 m:"]
            + table.lines
    }

    static func addMeaningless(_ statistics: DepthStatistics, to table: inout TextTable) {
        guard statistics.meaningless > 0 else { return }
        table.add("meaningless", Quantity.count(statistics.meaningless, "sample") + " (negative or infinite)")
    }

    static func median(_ statistics: DepthStatistics, isComplete: Bool) -> String {
        isComplete ? metres(statistics.median) : "not computed (too many samples)"
    }

    static func metres(_ value: Float?) -> String { value.map { metres(Double($0)) } ?? "no measured sample" }

    private static func metres(_ value: Double) -> String { Rounded.decimal(value, places: 3) + " m" }

    static func percent(_ share: Double) -> String { Rounded.decimal(share * 100, places: 1) + " %" }

    static func json(_ file: String, _ depth: DepthSamples, image: String? = nil) -> JSONValue {
        .members([
            "depth": .members(["height": .integer(depth.size.height), "width": .integer(depth.size.width)]),
            "depth_statistics": statisticsJSON(depth), "exit_code": .integer(0), "file": .string(file),
            "image": .text(image), "plausible": .bool(depth.isPlausible),
            "realitycam": depth.analysis.map(analysisJSON), "report": .string(report),
        ])
    }

    private static func statisticsJSON(_ depth: DepthSamples) -> JSONValue {
        let more = percentiles(of: depth).map { JSONValue.Member($0.name, .real($0.value)) }
        return .object((ViewRendering.statistics(depth.statistics).members ?? []) + more)
    }

    private static func analysisJSON(_ analysis: DepthAnalysis) -> JSONValue {
        .members([
            "edge_coherence": analysis.measures.map { .real($0.edgeCoherence) },
            "failed": .texts(analysis.failures.map(\.rawValue)),
            "layers": .count(analysis.measures?.layers),
            "mean_m": analysis.measures.map { .real($0.mean) },
            "near_median_share": analysis.measures.map { .real($0.nearMedianShare) },
            "range_m": analysis.measures.map { .real($0.range) },
            "samples": .integer(analysis.used),
            "screen": .bool(analysis.looksLikeAScreen),
            "standard_deviation_m": analysis.measures.map { .real($0.standardDeviation) },
            "verdict": .string(analysis.verdict.rawValue),
        ])
    }
}
