import CaptureBundle
import Foundation

/// The style sheet of all pages. The content security policy names its hash, so browsers apply no other style.
enum PageStyle {
    /// The source expression for `style-src`.
    static let source: String = {
        let hash = (try? Digest.of(Array(sheet.source.utf8)))?.bytes ?? []
        return "'sha256-\(Data(hash).base64EncodedString())'"
    }()

    static let sheet = HTML([colours, text, verdict, pictures, lists, media])

    private static let colours: HTML = """

        :root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--ink:#1a1e23;--soft:#515b67;--line:#d9dee5;--link:#0a55ad;
        --good:#0a5e36;--good-back:#dff3e7;--doubtful:#6f4100;--doubtful-back:#fdeccb;--bad:#931520;--bad-back:#fce2e2;
        --picture:#e6e9ed}
        @media (prefers-color-scheme:dark){:root{--page:#0e1115;--card:#171b21;--ink:#e8ebee;--soft:#a9b2be;--line:#2f3640;
        --link:#8dbaff;--good:#86deab;--good-back:#12311e;--doubtful:#f4cb78;--doubtful-back:#372a0b;--bad:#ffa19d;
        --bad-back:#3f181b;--picture:#0a0c0f}}

        """

    private static let text: HTML = """
        *{box-sizing:border-box}
        html{-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans",
        "Liberation Sans",sans-serif;overflow-wrap:anywhere}
        header,main,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
        header{padding-top:1.25rem;color:var(--soft)}
        footer{padding-top:1.5rem;padding-bottom:2.5rem;color:var(--soft);font-size:.9rem}
        h1{font-size:1.6rem;line-height:1.2;margin:0}
        main>h1{margin-bottom:.75rem}
        h2{font-size:1.15rem;line-height:1.3;margin:2rem 0 .6rem}
        p{margin:0 0 .6rem}
        a{color:var(--link)}
        a:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,.scroll:focus-visible{
        outline:3px solid var(--link);outline-offset:2px}
        code,.mono{font-family:ui-monospace,"Liberation Mono",Menlo,monospace;font-size:.875em}
        pre{margin:.3rem 0 .6rem;padding:.6rem .75rem;background:var(--card);border:1px solid var(--line);border-radius:.4rem;
        white-space:pre-wrap}
        .soft{color:var(--soft)}
        .signs{position:absolute}

        """

    private static let verdict: HTML = """
        .verdict{display:flex;gap:1rem;align-items:flex-start;margin:1rem 0;padding:1.1rem 1.25rem;border-radius:.75rem}
        .verdict svg{width:3rem;height:3rem;flex:none}
        .verdict p{margin:.35rem 0 0}
        .badge{display:inline-flex;align-items:center;gap:.35rem;padding:.1rem .6rem .1rem .4rem;border-radius:1rem;
        font-size:.875rem;font-weight:600}
        .badge svg{width:1rem;height:1rem;flex:none}
        .good{color:var(--good);background:var(--good-back)}
        .doubtful{color:var(--doubtful);background:var(--doubtful-back)}
        .bad{color:var(--bad);background:var(--bad-back)}
        .cut{stroke:var(--page)}

        """

    private static let pictures: HTML = """
        .pictures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,18rem),1fr));gap:1rem;align-items:start}
        figure{margin:0;min-width:0}
        figure img{display:block;width:100%;height:auto;max-height:36rem;object-fit:contain;background:var(--picture);
        border-radius:.5rem}
        figcaption{font-size:.9rem;color:var(--soft);margin-top:.35rem}
        .scale{display:block;height:.6rem;border-radius:.3rem;margin:.2rem 0;forced-color-adjust:none;
        background:linear-gradient(90deg,#fee838,#ddc858,#bbad6d,#9a9376,#7c7c78,#61656f,#434e6c,#1a386f,#00224e)}
        .ends{display:flex;justify-content:space-between;font-variant-numeric:tabular-nums}

        """

    private static let lists: HTML = """
        .facts{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.25rem;margin:0}
        .facts dt{color:var(--soft)}
        .facts dd{margin:0;min-width:0}
        ul,ol{padding-left:1.4rem;margin:0 0 .6rem}
        li{margin-bottom:.35rem}
        .button{display:inline-block;padding:.45rem 1rem;border-radius:.5rem;border:1px solid var(--link);color:var(--link);
        background:var(--card);font:inherit;text-decoration:none;cursor:pointer}
        form{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:1rem 0}
        form>div{min-width:0;max-width:100%}
        label{display:block;font-size:.9rem;color:var(--soft)}
        input,select{font:inherit;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:.4rem;
        padding:.35rem .5rem;max-width:100%}
        .scroll{overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
        table{border-collapse:collapse;width:100%;font-size:.925rem;overflow-wrap:normal}
        caption{text-align:left;padding:.6rem .75rem;color:var(--soft)}
        th,td{text-align:left;vertical-align:middle;padding:.45rem .75rem;border-top:1px solid var(--line)}
        td img{display:block;width:6rem;height:4.5rem;object-fit:contain;background:var(--picture);border-radius:.3rem}
        .nowrap{white-space:nowrap}

        """

    private static let media: HTML = """
        @media (max-width:36rem){.facts{grid-template-columns:1fr;gap:0}.facts dt{font-size:.875rem;margin-top:.5rem}
        .verdict{padding:.9rem 1rem;gap:.75rem}.verdict svg{width:2.25rem;height:2.25rem}h1{font-size:1.35rem}}
        @media (forced-colors:active){.verdict,.badge{border:2px solid CanvasText}.cut{stroke:Canvas}}
        @media print{:root{--page:#fff;--card:#fff;--ink:#000;--soft:#333;--line:#999;--link:#000;--picture:#fff;--good:#000;
        --good-back:#fff;--doubtful:#000;--doubtful-back:#fff;--bad:#000;--bad-back:#fff}
        body{font-size:10pt}header,main,footer{max-width:none;padding:0}
        .verdict,.badge{border:2px solid #000}.badge{border-width:1px}
        .verdict svg,.badge svg,.scale{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        .pictures{grid-template-columns:1fr 1fr}
        figure img{max-height:8cm}figure,.verdict,tr,li,pre{break-inside:avoid}h2{break-after:avoid}
        form,.button{display:none}.scroll{overflow:visible;border:0}}

        """
}
