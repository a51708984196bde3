"""edit.py NAME < edits. Edit lines: `12-14 text` (whole-line comments), `12t text` (trailing comment), `12-14` deletes; '¶' breaks a line, '¶¶' empty comment line, '§' nonbreaking space prefix."""
import sys, json, re, textwrap
name = sys.argv[1]
snap = open(f"/tmp/p1/{name}.txt").read().split("\n")
m = json.load(open(f"/tmp/p1/{name}.map"))
byfile = {}
bad = 0
for raw in sys.stdin.read().split("\n"):
    if not raw.strip(): continue
    g = re.match(r"(\d+)(?:-(\d+))?(t?)(?: (.*))?$", raw)
    if not g: print("SYNTAX", raw); bad += 1; continue
    a = int(g[1]); b = int(g[2] or a); t = g[3]; text = (g[4] or "").strip()
    ent = m[a-1]
    if ent is None or m[b-1] is None or m[b-1][0] != ent[0]: print("RANGE", raw); bad += 1; continue
    f, i0 = ent; i1 = m[b-1][1]
    byfile.setdefault(f, []).append((i0, i1, t, text, a))
for f, eds in byfile.items():
    p = f"/work/w-p1/{f}"
    lines = open(p).read().split("\n")
    base = next(k for k, e in enumerate(m) if e and e[0] == f)
    n = sum(1 for e in m if e and e[0] == f)
    if lines[:-1] != snap[base:base+n]: print("CHANGED", f); bad += 1; continue
    marker_re = re.compile(r"^(\s*)(///?|#)( |$)")
    last = -1
    for i0, i1, t, text, a in sorted(eds, reverse=True):
        if last >= 0 and i1 >= last: print("OVERLAP", f, a); bad += 1
        last = i0
        if t:
            l = lines[i0]
            k = l.rfind(" // ") if not f.endswith((".py",".sh")) and "/" in l else l.rfind(" # ")
            if k < 0: k = l.rfind(" # ")
            if k < 0: print("NOTRAIL", a, l); bad += 1; continue
            mk = l[k:].split()[0]
            code = l[:k].rstrip()
            sep = l[len(code):k+1]
            new = code + (sep + mk + " " + text if text else "")
            if len(new) > 120: print("LONG", a, len(new)); bad += 1
            lines[i0] = new; continue
        ok = True
        for j in range(i0, i1+1):
            if not marker_re.match(lines[j]): print("NOTCOMMENT", a, lines[j]); ok = False
        if not ok: bad += 1; continue
        g = marker_re.match(lines[i0])
        pre = g[1] + g[2]
        new = []
        if text:
            for para in text.split("¶"):
                para = para.rstrip()
                if not para.strip(): new.append(pre); continue
                para = para[1:] if para.startswith(" ") else para
                ind = re.match(r"\s*(- )?", para)[0]
                new += [x.replace("§", " ") for x in textwrap.wrap(para, 120, initial_indent=pre+" ", subsequent_indent=pre+" "+" "*len(ind), break_long_words=False, break_on_hyphens=False)]
        lines[i0:i1+1] = new
    byfile[f] = (p, lines)
if bad: print("bad:", bad, "nothing written"); sys.exit(1)
for f, (p, lines) in byfile.items(): open(p, "w").write("\n".join(lines))
print("files", len(byfile))
