enum PageStyle {
    static let sheet = HTML([colours, text, verdicts, pictures, captures, lists, tables, chains, narrow, paper])

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
        header,main,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
        [data-page=capture-report] :is(header,main,footer){max-width:84rem}
        header{padding-top:1.75rem}
        footer{padding-top:1.25rem;padding-bottom:2.5rem;color:var(--soft);font-size:.875rem}
        h1{font-size:1.75rem;line-height:1.2;margin:0 0 .25rem;letter-spacing:-.01em}
        h2{font-size:1.25rem;line-height:1.3;margin:2.5rem 0 .75rem}
        h3{font-size:1rem;margin:1.75rem 0 .6rem;color:var(--soft);font-weight:600}
        h4{font-size:1rem;line-height:1.35;margin:.5rem 0 .6rem}
        p{margin:0 0 .5rem}
        a{color:var(--link)}
        :is(a,button,input,select,.scroll):focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
        code,.mono{font-family:ui-monospace,"Liberation Mono",Menlo,monospace;font-size:.85em}
        pre{margin:.3rem 0 .6rem;padding:.6rem .75rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;
        white-space:pre-wrap}
        .lead{color:var(--soft)}
        .skip{position:absolute;left:-9999px}
        .skip:focus{position:static}
        .signs{position:absolute}
        .cut{stroke:var(--card)}

        """

    private static let verdicts: HTML = """
        .verdict{display:flex;gap:1rem;align-items:flex-start;margin:1rem 0;padding:1.1rem 1.25rem;border-radius:.75rem}
        .verdict svg{width:3rem;height:3rem;flex:none}
        .verdict p{margin:.35rem 0 0}
        .badge{display:inline-flex;align-items:center;gap:.4rem;margin:0;padding:.15rem .6rem .15rem .45rem;
        border-radius:1rem;font-size:.875rem;font-weight:600;line-height:1.4}
        .badge svg{width:1rem;height:1rem;flex:none}
        .mark{display:inline-block;padding:.05rem .4rem;border-radius:.4rem;font-weight:600}
        .findings{margin:0 0 .6rem;padding:.5rem .75rem .5rem 1.6rem;border-radius:.4rem;font-size:.9rem}
        .good{color:var(--good);background:var(--good-back)}
        .neutral{color:var(--neutral);background:var(--neutral-back)}
        .doubtful{color:var(--doubtful);background:var(--doubtful-back)}
        .bad{color:var(--bad);background:var(--bad-back)}

        """

    private static let pictures: HTML = """
        .pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:1rem;align-items:start}
        figure{margin:0;min-width:0}
        figure img{display:block;width:100%;height:auto;max-height:36rem;object-fit:contain;background:var(--picture);
        border-radius:.4rem}
        figcaption{font-size:.9rem;color:var(--soft);margin-top:.35rem}
        .card .pictures{grid-template-columns:1fr 1fr;gap:.5rem;margin:0 0 .75rem}
        .card figure img{aspect-ratio:4/3}
        .card .tall img{aspect-ratio:3/4}
        .card figcaption{font-size:.8rem}
        .scale{display:block;height:.6rem;border-radius:.3rem;margin:.2rem 0;forced-color-adjust:none;
        background:linear-gradient(90deg,#fee838,#ddc858,#bbad6d,#9a9376,#7c7c78,#61656f,#434e6c,#1a386f,#00224e)}
        .ends{display:flex;justify-content:space-between;font-variant-numeric:tabular-nums}

        """

    private static let captures: HTML = """
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.75rem;margin:1.25rem 0 0;padding:0;
        list-style:none}
        .tiles li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.75rem .9rem}
        .tiles strong{display:block;font-size:1.6rem;line-height:1.15;font-variant-numeric:tabular-nums}
        .tiles a{display:block;color:inherit;text-decoration:none}
        .tiles li:has(a:hover){border-color:var(--link)}
        .tiles .badge{margin:.35rem .35rem 0 0}
        .tiles span:not(.badge){white-space:nowrap}
        .days,.cards{display:flex;flex-wrap:wrap;gap:1rem;align-items:flex-start}
        .days{column-gap:1rem;row-gap:0}
        .day{max-width:100%}
        .card{width:100%;background:var(--card);border:1px solid var(--line);border-radius:.75rem;overflow:hidden;padding:.9rem 1rem 1rem;
        contain:paint}
        @media (min-width:46rem){.card{width:calc((100vw - 4.25rem)/2)}}
        @media (min-width:75rem){.card{width:calc((min(100vw,84rem) - 5.25rem)/3)}}

        """

    private static let lists: HTML = """
        .facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0}
        .facts dt{color:var(--soft)}
        .facts dd{margin:0;min-width:0}
        .card .facts{gap:.15rem .9rem;font-size:.9rem}
        .note{margin:.6rem 0 0;font-size:.85rem;color:var(--soft)}
        .steps{list-style:none;margin:0;padding:0;display:grid;gap:.6rem}
        .steps li{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem}
        .steps p{margin:0}
        .steps code{display:inline-block;margin-top:.25rem;padding:.15rem .45rem;border-radius:.3rem;background:var(--page);
        border:1px solid var(--line)}
        .button{display:inline-block;padding:.45rem 1rem;border-radius:.5rem;border:1px solid var(--link);color:var(--link);
        background:var(--card);font:inherit;text-decoration:none;cursor:pointer}
        form{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:1rem 0}
        form>div{min-width:0;max-width:100%}
        label{display:block;font-size:.9rem;color:var(--soft)}
        input,select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.4rem;
        padding:.35rem .5rem;max-width:100%}

        """

    private static let tables: HTML = """
        .scroll{overflow:auto;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
        section .scroll{max-height:32rem}
        table{border-collapse:collapse;width:100%;font-size:.875rem;overflow-wrap:normal}
        caption{text-align:left;padding:.6rem .75rem;color:var(--soft)}
        th,td{text-align:left;vertical-align:middle;padding:.45rem .75rem;border-top:1px solid var(--line)}
        td img{display:block;width:6rem;height:4.5rem;object-fit:contain;background:var(--picture);border-radius:.3rem}
        thead th{position:sticky;top:0;background:var(--card);font-weight:600}
        section tbody th{font-weight:500;min-width:12.5rem}
        thead th,.line{white-space:nowrap}
        section :is(th,td){vertical-align:top}
        section td{overflow-wrap:anywhere;min-width:7rem}
        .number{width:1%;text-align:right;font-variant-numeric:tabular-nums;min-width:0;white-space:nowrap}
        .bar{display:block;width:100%;min-width:7rem;height:.8rem;margin-top:.25rem}
        .bar .good,.bar .neutral,.bar .doubtful,.bar .bad{fill:currentColor}
        tr:target{outline:2px solid var(--link);outline-offset:-2px}

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

    private static let narrow: HTML = """
        @media (max-width:30rem){section tbody th{min-width:0}.day{width:100%}
        .facts,.card .facts{grid-template-columns:1fr;gap:0}
        .facts dt{font-size:.8rem;margin-top:.3rem}h1{font-size:1.45rem}
        .verdict{padding:.9rem 1rem;gap:.75rem}.verdict svg{width:2.25rem;height:2.25rem}}
        @media (forced-colors:active){.verdict,.badge{border:2px solid CanvasText}
        .card,.tiles li,.findings{border:1px solid CanvasText}.cut{stroke:Canvas}}

        """

    private static let paper: HTML = """
        @media print{:root{--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#999;--link:#000;--picture:#fff;
        --good-back:#fff;--neutral-back:#fff;--doubtful-back:#fff;--bad-back:#fff;--good:#000;--neutral:#000;
        --doubtful:#000;--bad:#000}
        body{font-size:9.5pt}
        :is(header,main,footer){max-width:none!important;padding:0}
        .skip,form,.button{display:none}
        section .scroll,.scroll{overflow:visible;max-height:none;border:0}
        table{font-size:7.5pt}
        thead th{position:static}
        section td{min-width:0}
        th,td{padding:2pt 4pt}
        tr,.card,.tiles li,figure,.verdict,li,pre{break-inside:avoid}
        h2,h3,h4{break-after:avoid}
        .days,.day{display:block}
        .cards{display:block;columns:2;column-gap:10pt}
        .card{contain:none;width:auto;margin:0 0 10pt;overflow:visible}
        .pictures{grid-template-columns:1fr 1fr}
        .verdict{border:2px solid #000}
        .badge{border:1px solid #000}
        .badge,.verdict>svg,.scale{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        .bar rect{stroke:#000;vector-effect:non-scaling-stroke;print-color-adjust:exact}
        .bar .good{fill:#fff}.bar .neutral{fill:#ddd}.bar .doubtful{fill:#999}
        .chain li{print-color-adjust:exact}
        figure img{max-height:8cm}.card figure img{max-height:6cm}}

        """
}
