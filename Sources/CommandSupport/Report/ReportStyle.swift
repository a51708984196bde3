import CaptureBundle

/// The style sheet of the pages. The page's content security policy has its hash, so browsers apply no other style.
enum ReportStyle {
    /// The hash for `style-src`. It covers the exact text between the tags of the style element.
    static func hash() throws(BundleError) -> String {
        "sha256-\(Base64.encode(try Digest.of(Array(sheet.source.utf8)).bytes))"
    }

    static let sheet = HTML([colours, text, captures, tables, chains, paper])

    private static let colours: HTML = """

        :root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--ink:#1b1f24;--soft:#56606d;--line:#dde1e7;--link:#0b57b0;
        --good:#0b6339;--good-back:#e0f3e8;--neutral:#3a4655;--neutral-back:#e8ecf1;--doubtful:#764500;
        --doubtful-back:#fdeecf;--bad:#9b1620;--bad-back:#fce4e4;--picture:#e8ebef}
        @media (prefers-color-scheme:dark){:root{--page:#0f1216;--card:#181c22;--ink:#e9ecef;--soft:#a7b0bd;--line:#2d343e;
        --link:#8ab8ff;--good:#83dca9;--good-back:#13301f;--neutral:#c1cad6;--neutral-back:#272e38;--doubtful:#f3c873;
        --doubtful-back:#36290b;--bad:#ff9f9b;--bad-back:#3d171a;--picture:#0b0d10}}
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}

        """

    private static let text: HTML = """
        body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
        "Noto Sans","Liberation Sans",sans-serif;overflow-wrap:anywhere}
        header,main,footer{max-width:84rem;margin:0 auto;padding:0 1rem}
        header{padding-top:1.75rem}
        footer{padding-top:1.25rem;padding-bottom:2.5rem;color:var(--soft);font-size:.875rem}
        h1{font-size:1.75rem;line-height:1.2;margin:0 0 .25rem;letter-spacing:-.01em}
        h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .75rem}
        h3{font-size:1rem;margin:1.75rem 0 .6rem;color:var(--soft);font-weight:600}
        h4{font-size:1rem;line-height:1.35;margin:.5rem 0 .6rem}
        p{margin:0 0 .5rem}
        a{color:var(--link)}
        a:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
        code,.mono{font-family:ui-monospace,"Liberation Mono",Menlo,monospace;font-size:.85em}
        .lead{color:var(--soft)}
        .skip{position:absolute;left:-9999px}
        .skip:focus{position:static}
        .signs{position:absolute}
        .cut{stroke:var(--card)}

        """

    private static let captures: HTML = """
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.25rem 0 0;padding:0;
        list-style:none}
        .tiles li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.75rem .9rem}
        .tiles strong{display:block;font-size:1.6rem;line-height:1.15;font-variant-numeric:tabular-nums}
        .tiles a{display:block;color:inherit;text-decoration:none}
        .tiles li:has(a:hover){border-color:var(--link)}
        .mark{display:inline-block;padding:.05rem .4rem;border-radius:.4rem;font-weight:600}
        tr:target{outline:2px solid var(--link);outline-offset:-2px}
        .tiles .badge{margin:.35rem .35rem 0 0}
        .tiles span{white-space:nowrap}
        .badge{display:inline-flex;align-items:center;gap:.4rem;margin:0;padding:.15rem .6rem .15rem .45rem;
        border-radius:1rem;font-size:.875rem;font-weight:600;line-height:1.4}
        .badge svg{width:1rem;height:1rem;flex:none}
        .good{color:var(--good);background:var(--good-back)}
        .neutral{color:var(--neutral);background:var(--neutral-back)}
        .doubtful{color:var(--doubtful);background:var(--doubtful-back)}
        .bad{color:var(--bad);background:var(--bad-back)}
        .days,.cards{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
        .days{column-gap:1rem;row-gap:0}
        .day{max-width:100%}
        .card{width:100%;background:var(--card);border:1px solid var(--line);border-radius:.75rem;overflow:hidden;padding:.9rem 1rem 1rem;
        contain:paint}
        @media (min-width:46rem){.card{width:calc((100vw - 4.25rem)/2)}}
        @media (min-width:75rem){.card{width:calc((min(100vw,84rem) - 5.25rem)/3)}}
        .pictures{display:grid;grid-template-columns:1fr 1fr;gap:.5rem;margin:0 0 .75rem}
        figure{margin:0;min-width:0}
        figure img{display:block;width:100%;height:auto;aspect-ratio:4/3;object-fit:contain;background:var(--picture);
        border-radius:.4rem}
        .tall img{aspect-ratio:3/4}
        figcaption{font-size:.8rem;color:var(--soft);margin-top:.25rem}
        .facts{display:grid;grid-template-columns:max-content 1fr;gap:.15rem .9rem;margin:0;font-size:.9rem}
        .facts dt{color:var(--soft)}
        .facts dd{margin:0;min-width:0}
        .findings{margin:0 0 .6rem;padding:.5rem .75rem .5rem 1.6rem;border-radius:.4rem;font-size:.9rem}
        .note{margin:.6rem 0 0;font-size:.85rem;color:var(--soft)}
        .steps{list-style:none;margin:0;padding:0;display:grid;gap:.6rem}
        .steps li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem}
        .steps p{margin:0}
        .steps code{display:inline-block;margin-top:.25rem;padding:.15rem .45rem;border-radius:.3rem;background:var(--page);
        border:1px solid var(--line)}

        """

    private static let tables: HTML = """
        .scroll{overflow:auto;max-height:32rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
        table{border-collapse:collapse;width:100%;font-size:.875rem;overflow-wrap:normal}
        caption{text-align:left;padding:.6rem .75rem;color:var(--soft)}
        th,td{text-align:left;vertical-align:top;padding:.45rem .75rem;border-top:1px solid var(--line)}
        thead th{position:sticky;top:0;background:var(--card);font-weight:600;white-space:nowrap}
        tbody th{font-weight:500;white-space:nowrap}
        td{overflow-wrap:anywhere;min-width:8.5rem}
        .number{width:1%;text-align:right;font-variant-numeric:tabular-nums;min-width:0;white-space:nowrap}
        .bar{display:block;width:100%;min-width:7rem;height:.8rem;margin-top:.25rem}
        .bar .good,.bar .neutral,.bar .doubtful,.bar .bad{fill:currentColor}

        """

    private static let chains: HTML = """
        .chain{list-style:none;margin:0 0 .75rem;padding:0;display:flex;flex-wrap:wrap;gap:.5rem .9rem}
        .chain li{position:relative;min-width:2rem;padding:.1rem .45rem;border:2px solid currentColor;text-align:center;
        font-size:.875rem;font-weight:600;font-variant-numeric:tabular-nums}
        .chain li+li::before{content:"";position:absolute;right:100%;top:50%;width:.9rem;border-top:2px solid var(--soft);
        margin-right:2px}
        .chain .missing{border-style:dashed;font-weight:400}
        .chain .missing::before,.chain .missing+li::before{border-top-style:dotted}
        .chain .fork{border-style:double;border-width:4px;border-radius:.9rem}
        .chain .order{border-radius:.9rem}
        .chain .more{border:0}
        .chain svg{width:1rem;height:1rem;vertical-align:-.15rem}

        """

    private static let paper: HTML = """
        @media (max-width:30rem){tbody th{white-space:normal}.day{width:100%}.facts{grid-template-columns:1fr;gap:0}.facts dt{font-size:.8rem;margin-top:.3rem}
        h1{font-size:1.45rem}}
        @media (forced-colors:active){.card,.badge,.tiles li,.findings{border:1px solid CanvasText}.cut{stroke:Canvas}}
        @media print{:root{--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#999;--link:#000;--picture:#fff;
        --good-back:#fff;--neutral-back:#fff;--doubtful-back:#fff;--bad-back:#fff;--good:#000;--neutral:#000;
        --doubtful:#000;--bad:#000}
        body{font-size:9.5pt}
        header,main,footer{max-width:none;padding:0}
        .skip{display:none}
        .scroll{overflow:visible;max-height:none;border:0}
        table{font-size:7.5pt}
        thead th{position:static}
        td{min-width:0}
        th,td{padding:2pt 4pt}
        tr,.card,.tiles li,figure,.steps li{break-inside:avoid}
        h2,h3,h4{break-after:avoid}
        .days,.day{display:block}
        .cards{display:block;columns:2;column-gap:10pt}
        .card{contain:none;width:auto;margin:0 0 10pt;overflow:visible}
        .badge{border:1px solid #000;print-color-adjust:exact}
        .bar rect{stroke:#000;vector-effect:non-scaling-stroke;print-color-adjust:exact}
        .bar .good{fill:#fff}.bar .neutral{fill:#ddd}.bar .doubtful{fill:#999}
        .chain li{print-color-adjust:exact;break-inside:avoid}
        figure img{max-height:6cm}}

        """
}
