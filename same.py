"""same.py [BASE]: every changed file equals its old version without comments."""
import subprocess, sys, ast, re
base = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
W = "/work/w-p1"
def run(*a): return subprocess.run(a, cwd=W, capture_output=True, text=True, check=True).stdout
def strip_c(s):
    out = []; i = 0; n = len(s)
    while i < n:
        g = re.compile(r'(#*)("""|")').match(s, i)
        if g:
            h, q = g[1], g[2]; j = g.end(); depth = 0
            while j < n:
                if s.startswith(q + h, j) and depth == 0: j += len(q + h); break
                if s[j] == "\\" and s.startswith("\\" + h, j):
                    k = j + 1 + len(h)
                    if s[k:k+1] == "(" :
                        d = 0
                        while k < n:
                            if s[k] == "(": d += 1
                            elif s[k] == ")":
                                d -= 1
                                if d == 0: break
                            elif s[k] == '"':
                                k += 1
                                while s[k] != '"': k += 2 if s[k] == "\\" else 1
                            k += 1
                        j = k + 1
                    else: j = k + 1
                    continue
                j += 1
            out.append(s[i:j]); i = j; continue
        if s[i] == "'" and s[i+2:i+3] == "'": out.append(s[i:i+3]); i += 3; continue
        if s.startswith("//", i):
            j = s.find("\n", i); i = n if j < 0 else j; continue
        if s.startswith("/*", i): i = s.index("*/", i) + 2; continue
        out.append(s[i]); i += 1
    return "\n".join(l.rstrip() for l in "".join(out).split("\n") if l.strip())
def strip_py(s):
    t = ast.parse(s)
    for node in ast.walk(t):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant) and isinstance(node.body[0].value.value, str):
                node.body.pop(0)
    return ast.dump(t)
def strip_sh(s):
    return "\n".join(re.sub(r"\s+# .*$", "", l).rstrip() for l in s.split("\n") if l.strip() and not l.lstrip().startswith("#"))
bad = 0; names = [x for x in run("git", "diff", "--name-only", base).split("\n") if x]
for f in names:
    if f.endswith(".md"): print("markdown:", f); continue
    old = run("git", "show", f"{base}:{f}"); new = open(f"{W}/{f}").read()
    s = strip_py if f.endswith(".py") else strip_c if f.endswith((".swift", ".h")) else strip_sh
    if s(old) != s(new): print("DIFFERS", f); bad += 1
    if f.endswith((".swift",".h")):
        for i, l in enumerate(new.split("\n")):
            if len(l) > 120 and l not in old.split("\n"): print("LONG", f, i+1)
print(len(names), "files,", bad, "differ"); sys.exit(bad > 0)
