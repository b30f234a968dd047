# SPDX-License-Identifier: MIT
"""test_view.py - nearmiss view: who is answered and who is refused, and what the answers say.

The server is the real one on a free port; requests are made by http.client, or by hand on a socket where they must be wrong.
"""

import contextlib
import csv
import http.client
import json
import os
import pty
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse

from harness import ENVIRONMENT, NEARMISS, TOP, Skip, at, main, nearmiss, program, record, rows

NEST = os.path.join(TOP, "examples/transpose.nest")
HOSTILE = "<script>alert(1)</script>\"'&\u202e\u0007\x1b[31m\n</SCRIPT>"
FORBIDDEN, MISSING, METHOD, TOO_LARGE, TYPE = 403, 404, 405, 413, 415


def make_profile(path="p.nmp"):
    done = nearmiss("nest", "-q", "--distances", "--sets", "-o", path, "--cache", "L1d=4K,2,64:L2=64K,8,64", NEST)
    assert done.returncode == 0, done.stderr
    return path


class Server:
    """`nearmiss view` of profiles; with the cookie of a browser that opened its address."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([NEARMISS, "view", "--no-browser", *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=ENVIRONMENT)
        address = urllib.parse.urlsplit(self.process.stdout.readline().decode().strip())
        assert address.hostname == "127.0.0.1", self.process.stderr.read()
        self.port, self.path = address.port, f"{address.path}?{address.query}"
        self.cookie = None
        status, headers, _ = self.ask("GET", self.path)
        assert status == 303 and headers["Location"] == "/"
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        self.cookie = headers["Set-Cookie"].split(";")[0]

    def ask(self, method, path, body=None, **headers):
        """Status, headers and body; a header that is None is left out."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        send = {"Host": f"127.0.0.1:{self.port}", "Cookie": self.cookie}
        send.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in send.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, response.headers, text

    def get(self, path, **query):
        """The answer as JSON."""
        status, _, text = self.ask("GET", path + ("?" + urllib.parse.urlencode(query) if query else ""))
        assert status == 200, (path, query, status, text)
        return json.loads(text)

    def refuses(self, status, method, path, body=None, **headers):
        got = self.ask(method, path, body, **headers)
        assert got[0] == status, (method, path, headers, got)
        assert b"{" not in got[2] or "error" in json.loads(got[2]), got

    def raw(self, data, seconds=30):
        """What the server says to these bytes until it closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
            said = b""
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    said += part
            return said

    def stop(self):
        """Ends it as Ctrl-C does: it must end by itself and have nothing to complain about."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, (self.process.returncode, errors)
        assert not re.search(rb"ERROR|runtime error|Sanitizer", errors), errors


@contextlib.contextmanager
def served(*arguments):
    server = Server(*arguments)
    try:
        yield server
        server.stop()
    finally:
        server.process.kill()
        server.process.communicate()


def post(server, path, value):
    """Tells the debugger to do something; its answer."""
    status, _, text = server.ask("POST", path, json.dumps(value).encode(), Content_Type="application/json")
    assert status == 200, text
    return json.loads(text)


def predicted(server, candidate, profile=0):
    """What is predicted for a candidate, in the end."""
    answer = post(server, "/api/prediction", {"profile": profile, "candidate": candidate})
    while answer["state"] == "running":
        time.sleep(0.05)
        answer = server.get("/api/prediction")
    return answer


# ---- who is answered ----

def case_token_host_and_origin():
    with served(make_profile()) as s:
        assert s.get("/api/session")["profiles"][0]["file"] == "p.nmp"
        own = f"http://127.0.0.1:{s.port}"
        assert s.ask("GET", "/api/session", Origin=own)[0] == 200
        assert s.ask("GET", "/api/session", Host=f"localhost:{s.port}")[0] == 200
        assert s.ask("GET", "/api/session", Host=None)[0] == 400
        for host in ("", "127.0.0.1", "example.org", f"example.org:{s.port}", f"127.0.0.1:{s.port}.example.org",
                     f"127.0.0.1:{s.port + 1}"):
            s.refuses(FORBIDDEN, "GET", "/api/session", Host=host)
            s.refuses(FORBIDDEN, "GET", s.path, Host=host)
        for origin in ("null", "http://example.org", "https" + own[4:], own + ".example.org", own + "@example.org",
                       f"http://localhost:{s.port}", ""):
            s.refuses(FORBIDDEN, "GET", "/api/session", Origin=origin)
        name, token = s.cookie.split("=")
        for cookie in (None, "", name, name + "=", f"{name}={token[:-1]}", f"{name}={token}0", f"{name}={'0' * 32}",
                       f"other={token}"):
            for path in ("/", "/app.js", "/api/session"):
                s.refuses(FORBIDDEN, "GET", path, Cookie=cookie)
        s.refuses(FORBIDDEN, "GET", "/?token=" + "0" * 32)
        s.refuses(FORBIDDEN, "GET", f"/api/session?token={token}", Cookie=None)
    with served("p.nmp") as s:
        assert token not in s.cookie and s.get("/api/session")
        s.refuses(FORBIDDEN, "GET", "/api/session", Cookie=f"{s.cookie.split('=')[0]}={token}")


def case_only_this_machine_can_connect():
    with served(make_profile()) as s:
        with open(f"/proc/{s.process.pid}/net/tcp", encoding="ascii") as f:
            listening = [line.split()[1] for line in f if line.split()[3] == "0A"]
        assert f"0100007F:{s.port:04X}" in listening and f"00000000:{s.port:04X}" not in listening


def case_headers_that_keep_a_page_safe():
    with served(make_profile()) as s:
        for path in ("/", "/api/session", "/nothing"):
            _, headers, _ = s.ask("GET", path)
            policy = headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
            assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-store"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert "Access-Control-Allow-Origin" not in headers


def case_paths_name_no_files():
    with open("secret.txt", "w", encoding="ascii") as f:
        f.write("very secret")
    with served(make_profile()) as s:
        here = os.getcwd()
        for path in ("/secret.txt", "/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", f"/{here}/secret.txt",
                     "//etc/passwd", "/app.js/../secret.txt", "/api/../secret.txt", "/api/p/0/../../secret.txt",
                     "/index.html%00.txt", "/api/session%00", "/api/p/1/overview", "/api/p/-1/overview", "/api/p//overview",
                     "/api/p/00/overview", "/api/p/0/", "/api/p/0", "/api/", "/api", "/api/p/0/overview/", "/%", "/%zz",
                     "/api/p/4294967296/overview"):
            s.refuses(MISSING, "GET", path)
        for file in ("secret.txt", f"{here}/secret.txt", "/etc/passwd", "../secret.txt", "p.nmp"):
            status, _, text = s.ask("GET", "/api/p/0/source?file=" + urllib.parse.quote(file))
            assert status in (400, 404) and b"very secret" not in text and b"root:" not in text, text


def case_source_that_a_hostile_profile_names():
    """A profile from elsewhere may name any file as its source: its text does not come out."""
    secret = os.path.join(os.path.abspath(os.sep), "etc", "hostname")
    make_profile()
    with sqlite3.connect("p.nmp") as db:
        db.execute("UPDATE text SET text = ? WHERE id = (SELECT file FROM site WHERE file IS NOT NULL LIMIT 1)", (secret,))
    db.close()
    with open(secret, encoding="ascii") as f:
        text = f.read().strip()
    with served("p.nmp") as s:
        answer = s.get("/api/p/0/source", file=secret)
        assert text not in json.dumps(answer["lines"]) and answer["note"], answer


# ---- what a request may be ----

def case_methods_and_bodies():
    with served(make_profile()) as s:
        head = s.ask("HEAD", "/api/session")
        assert head[0] == 200 and not head[2]
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            for path in ("/", "/api/session", "/api/p/0/table"):
                s.refuses(METHOD, method, path, Content_Type="application/json")
        for method in ("PUT", "PATCH", "OPTIONS"):
            s.refuses(METHOD, method, "/api/d/step")
        for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data"):
            s.refuses(TYPE, "POST", "/api/d/step", b"{}", Content_Type=kind)
        assert s.ask("POST", "/api/d/step", b"{}", Content_Type="application/json; charset=utf-8")[0] in (400, 404)
        s.refuses(TOO_LARGE, "POST", "/api/d/step", b" " * 70000, Content_Type="application/json")
        assert s.get("/api/session")


def case_oversized_and_malformed_requests():
    with served(make_profile()) as s:
        start = f"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nCookie: {s.cookie}\r\n".encode()
        post = (f"POST /api/d/step HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nCookie: {s.cookie}\r\n"
                "Content-Type: application/json\r\n").encode()
        chunks = b"".join(b"1000\r\n" + b" " * 4096 + b"\r\n" for _ in range(40)) + b"0\r\n\r\n"
        for data in (b"\0" * 100, b"\r\n" * 50 + b"x", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
                     b"GET / HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
                     start + b"X: " + b"a" * 100000 + b"\r\n\r\n", start + b"X: y\r\n" * 20000 + b"\r\n",
                     start + b"Content-Length: -1\r\n\r\n", start + b"Content-Length: 99999999999999999999\r\n\r\n",
                     post + b"Content-Length: 100000000\r\n\r\n", post + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks,
                     post + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"GET /api/session HTTP/1.1\r\nHost : x\r\n\r\n"):
            said = s.raw(data)
            assert not said.startswith(b"HTTP/1.1 200"), (data[:60], said[:100])
            assert b"profiles" not in said
        assert s.raw(post + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + chunks).startswith(b"HTTP/1.1 413")
        many = "&".join(f"a{i}=1" for i in range(100))
        assert s.ask("GET", "/api/p/0/table?" + many)[0] == 400
        assert s.get("/api/session")


def case_parameters_that_make_no_sense():
    with served(make_profile()) as s:
        for path in ("table?by=nothing", "table?by=", "table?by=object,,line", "table?by=object,file,function,thread,process",
                     "table?sort=nothing", "table?order=up", "table?limit=1001", "table?limit=-1", "table?limit=1e3",
                     "table?limit=99999999999999999999", "table?offset=x", "table?level=L9", "tree?nodes=0", "tree?nodes=100000",
                     "tree?metric=mpki", "tree?metric=x", "evictions?top=0", "histogram?of=x", "histogram?bins=0",
                     "histogram?bins=9999", "line", "line?file=x", "line?file=x&line=-1", "line?file=x&line=1%20OR%201", "source",
                     "sharing?by=x", "curves?by=x", "overview?level=%27%20OR%201", "structures?level=x"):
            status, _, text = s.ask("GET", "/api/p/0/" + path)
            expected = 200 if path == "table?by=" else 400
            assert status == expected and (status == 200 or json.loads(text)["error"]), (path, status, text)
        assert s.ask("GET", "/api/compare?a=0&b=1")[0] == 404
        for text in ("'", "\"", ";DROP TABLE cell", "%", "\\", "x" * 3000):
            assert s.get("/api/p/0/table", filter=text)["rows"] == []


def case_slow_clients():
    """Who sends no request, or sends it byte by byte, is cut off; meanwhile others are served."""
    with served(make_profile()) as s:
        silent = socket.create_connection(("127.0.0.1", s.port), timeout=30)
        trickling = socket.create_connection(("127.0.0.1", s.port), timeout=30)
        begun, ended = time.monotonic(), None
        for byte in b"GET / HTTP/1.1\r\nX: " + b"a" * 50:
            try:
                trickling.send(bytes([byte]))
            except OSError:
                ended = time.monotonic()
                break
            time.sleep(0.4)
            assert s.get("/api/session")
        assert ended and ended - begun < 25, ended
        assert silent.recv(100) == b""


def case_held_up_server():
    """A client that waits while the server is busy, or was stopped, has its answer."""
    with served(make_profile()) as s:
        with socket.create_connection(("127.0.0.1", s.port), timeout=30) as connection:
            time.sleep(1)
            s.process.send_signal(signal.SIGSTOP)
            connection.sendall(f"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nCookie: {s.cookie}\r\n\r\n".encode())
            time.sleep(12)  # longer than it waits for a request
            s.process.send_signal(signal.SIGCONT)
            assert connection.recv(100).startswith(b"HTTP/1.1 200")


def case_thousand_connections():
    """More connections than the server keeps: those that ask nothing go first, and it goes on."""
    with served(make_profile()) as s:
        crowd = [socket.socket() for _ in range(1000)]
        for connection in crowd:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", s.port))
        assert s.get("/api/session")
        for connection in crowd:
            connection.close()
        assert s.get("/api/p/0/overview")
        with open(f"/proc/{s.process.pid}/status", encoding="ascii") as f:
            assert int(re.search(r"VmHWM:\s+(\d+)", f.read())[1]) < 1000000


# ---- names ----

def case_hostile_names():
    """Names come out as text: in JSON by its escapes, in a file so that no element of HTML ends there."""
    make_profile()
    with sqlite3.connect("p.nmp") as db:
        db.execute("UPDATE text SET text = ? || text", (HOSTILE,))
        db.execute("UPDATE entry SET value = ? WHERE key = 'command'", (HOSTILE,))
    db.close()
    shown = re.sub("[\x00-\x1f]", "\ufffd", HOSTILE)
    with served("p.nmp") as s:
        _, headers, text = s.ask("GET", "/api/p/0/table?by=object,function,line")
        assert headers["Content-Type"] == "application/json" and b"\x07" not in text and b"\x1b" not in text
        assert json.loads(text)["rows"][0][0].startswith(shown)
        assert s.get("/api/session")["profiles"][0]["command"] == shown
        assert s.get("/api/p/0/tree")["children"][0]["name"].startswith(shown)
        assert s.get("/api/p/0/evictions")["objects"][0].startswith(shown)
    page = written_page("p.nmp")
    first, more = answers_of(page)
    assert "<" not in first + more
    assert json.loads(first)["GET /api/session"]["profiles"][0]["command"] == shown
    assert "alert(1)" not in page.replace(first, "").replace(more, "")


def case_names_that_are_no_utf8():
    make_profile()
    with sqlite3.connect("p.nmp") as db:
        db.execute("UPDATE text SET text = CAST(x'fffe80' || CAST(text AS BLOB) AS TEXT)")
    db.close()
    with served("p.nmp") as s:
        assert s.get("/api/p/0/table")["rows"][0][0].startswith("\ufffd")


# ---- what the answers say ----

def query(sql, path="p.nmp"):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def case_overview():
    with served(make_profile()) as s:
        overview = s.get("/api/p/0/overview")
        report = json.loads(nearmiss("report", "-i", "p.nmp", "--format", "json").stdout)
        assert [pair["object"] for pair in overview["pairs"]] == [pair["object"] for pair in report["pairs"]][:10]
        assert [level["misses"] for level in overview["levels"]] == [level["misses"] for level in report["levels"]]
        assert overview["info"]["references"] == report["info"]["references"] and overview["verdict"]
        loaded = dict(query("SELECT level, sum(loaded_bytes) FROM counts GROUP BY level"))
        assert {level["level"]: level["bytes"] for level in overview["levels"]} == loaded
        ranked = json.loads(nearmiss("report", "-i", "p.nmp", "--by", "level", "--format", "json").stdout)["rows"]
        assert {level["level"]: level["cycles"] for level in overview["levels"]} == {
            row["level"]: row["cycles"] for row in ranked}
        assert overview["advice"] and all(one["title"] and one["text"] for one in overview["advice"])


def column(table, key):
    i = [c["key"] for c in table["columns"]].index(key)
    return [row[i] for row in table["rows"]], table["sums"][i], table["rest"][i]


def case_table():
    """A page, the rest and the filter: against plain SQL."""
    with served(make_profile()) as s:
        misses = query("SELECT object, sum(read_misses + write_misses) AS m FROM counts WHERE level = 'L1d' "
                       "GROUP BY 1 ORDER BY m DESC, 1")
        table = s.get("/api/p/0/table", by="object", level="L1d", limit=1)
        shown, total, rest = column(table, "misses")
        assert shown == [misses[0][1]] and total == sum(m for _, m in misses) and rest == total - shown[0]
        assert table["total_rows"] == len(misses)
        second = s.get("/api/p/0/table", by="object", level="L1d", limit=1, offset=1)
        assert second["rows"][0][0] == misses[1][0]
        table = s.get("/api/p/0/table", by="object", sort="object", order="desc")
        assert column(table, "object")[0] == sorted((o for o, _ in misses), reverse=True)
        kept = s.get("/api/p/0/table", by="object", filter=misses[0][0].upper())
        assert [row[0] for row in kept["rows"]] == [o for o, _ in misses if misses[0][0].lower() in o.lower()]
        ratio = column(s.get("/api/p/0/table", by="object", sort="miss_ratio"), "miss_ratio")[0]
        assert ratio == sorted(ratio, reverse=True)


def sums_hold(node):
    children = node.get("children")
    if children:
        assert sum(child["value"] for child in children) == node["value"], node
        for child in children:
            sums_hold(child)


def case_small_rows_are_one():
    """Rows below a share of the misses are in the sums alone; where all are, none is left out."""
    with served(make_profile()) as s:
        ask = lambda **query: s.get("/api/p/0/table", by="object,file,line", limit=1000, **query)
        all_rows, large = ask(), ask(least=30)
        misses = [column["key"] for column in all_rows["columns"]].index("misses")
        total = sum(row[misses] for row in all_rows["rows"])
        wanted = [row for row in all_rows["rows"] if row[misses] * 100 >= 30 * total]
        assert 0 < len(wanted) < len(all_rows["rows"]) and large["rows"] == wanted
        assert large["small"] == len(all_rows["rows"]) - len(wanted) and large["total_rows"] == len(wanted)
        assert large["sums"] == all_rows["sums"]
        assert large["rest"][misses] == total - sum(row[misses] for row in wanted)
        assert ask(least=100)["rows"] == all_rows["rows"]
        s.refuses(400, "GET", "/api/p/0/table?least=101")


def case_tree():
    with served(make_profile()) as s:
        for nodes in (1, 2, 100):
            tree = s.get("/api/p/0/tree", by="object,file,line", nodes=nodes)
            sums_hold(tree)
            assert len([child for child in tree["children"] if not child.get("rest")]) <= nodes
        assert tree["value"] == query("SELECT sum(read_misses + write_misses) FROM counts WHERE level = 'L1d'")[0][0]


def nodes_below(node, path=()):
    """Each node below one, with the nodes on the way to it."""
    for child in node.get("children", ()):
        yield child, path
        yield from nodes_below(child, (*path, child))


def case_chains():
    """What each call led to is what the profile counted in its context; both directions have the same chains."""
    record([program("containers")], "-q", "-g")
    wanted = rows("SELECT function, file, line, sum(read_misses + write_misses) FROM contexts WHERE level = 'L1d' AND "
                  "(function = 'main' OR function LIKE '%::fill(%' OR function LIKE 'sum\\_%' ESCAPE '\\') GROUP BY 1, 2, 3")
    assert len(wanted) == 4, wanted
    with served("p.nmp") as s:
        tree = {by: s.get("/api/p/0/chains", level="L1d", by=by)["tree"] for by in ("object", "call")}
        calls = [node for node, _ in nodes_below(tree["call"]) if node["kind"] == "call"]
        for function, file, line, misses in wanted:
            assert [node["value"] for node in calls if (node["name"], node["file"], node["line"]) == (function, file, line)] == [misses]
        total = rows("SELECT sum(read_misses + write_misses) FROM context_counts WHERE level = 'L1d'")[0][0]
        for root in tree.values():
            assert root["value"] == total
            for node, _ in [(root, ()), *nodes_below(root)]:
                below = sum(child["value"] for child in node.get("children", ())) + node.get("rest", 0)
                assert below in (0, node["value"]) or node["kind"] == "call", node  # the first call of a thread has no caller
                assert all(child["value"] * 100 >= total for child in node.get("children", ()))
        into = {by: {(node["name"], path[-1]["line"]) if by == "call" else (path[0]["name"], node["line"]): node["value"]
                     for node, path in nodes_below(tree[by]) if node["kind"] == ("object" if by == "call" else "line")
                     and (path[-1] if by == "call" else node).get("line") == at("tests/programs/containers.cpp", "vector")} for by in tree}
        assert into["object"] == into["call"] and len(into["call"]) == 1, into
        # A node by its number is the root with its part; one that is not there leaves the last that is.
        zoomed = s.get("/api/p/0/chains", level="L1d", by="object", at="1.0")
        assert zoomed["tree"]["value"] == tree["object"]["children"][1]["children"][0]["value"]
        assert [node["kind"] for node in zoomed["path"]] == ["all", "object"]
        assert s.get("/api/p/0/chains", level="L1d", by="object", at="1.99999.3")["tree"]["kind"] == "object"
        found = s.get("/api/p/0/chains", level="L1d", by="object", filter="SUM_VEC")["tree"]
        assert found["value"] == next(misses for function, _, _, misses in wanted if "sum_vec" in function)
        for bad in ("by=size", "at=x", "at=1..2", "level=L9"):
            s.refuses(400, "GET", f"/api/p/0/chains?{bad}")
        line = s.get("/api/p/0/line", level="L1d", file=next(file for name, file, *_ in wanted if "sum_" in name), line=at("tests/programs/containers.cpp", "vector"))
        functions = [[call["function"].split("(")[0] for call in chain["calls"]][:2] for chain in line["chains"]]
        assert functions == [["sum_vector", "main"]], functions
        assert sum(chain["misses"] for chain in line["chains"]) == sum(one["misses"] for one in line["objects"])


def case_chains_of_a_profile_without_or_damaged():
    with served(make_profile()) as s:
        s.refuses(400, "GET", "/api/p/0/chains")
        assert "chains" not in s.get("/api/p/0/line", **rows_of_first_line(s))
    record([program("containers")], "-q", "-g", profile="damaged.nmp")
    with sqlite3.connect("damaged.nmp") as db:
        db.execute("DELETE FROM context_sum WHERE context = 5")
    db.close()
    with served("damaged.nmp") as s:
        status, _, text = s.ask("GET", "/api/p/0/chains")
        assert status == 500 and b"a call chain has no beginning" in text, text


def rows_of_first_line(s):
    """Its level, file and number."""
    source = s.get("/api/p/0/source", file=s.get("/api/p/0/sources")[0]["file"])
    return {"level": source["level"], "file": source["file"], "line": next(line["n"] for line in source["lines"] if line["figures"])}


def case_evictions():
    with served(make_profile()) as s:
        answer = s.get("/api/p/0/evictions")
        pairs = dict(((a, b), n) for a, b, n in query(
            "SELECT evictor, victim, sum(count) FROM evictions WHERE level = 'L1d' GROUP BY 1, 2"))
        assert pairs and answer["rest"] == 0 and answer["total"] == sum(pairs.values())
        for i, evictor in enumerate(answer["objects"]):
            for j, victim in enumerate(answer["objects"]):
                assert answer["matrix"][i][j] == pairs.get((evictor, victim), 0)
        (evictor, victim), count = max(pairs.items(), key=lambda pair: pair[1])
        lines = s.get("/api/p/0/evictions/lines", evictor=evictor, victim=victim)["rows"]
        assert sum(row["count"] for row in lines) == count
        part = s.get("/api/p/0/evictions/lines", offset=1, limit=2)
        assert part["rows"] == s.get("/api/p/0/evictions/lines")["rows"][1:3]
        assert part["rest"] + sum(row["count"] for row in part["rows"]) == answer["total"]
        few = s.get("/api/p/0/evictions", top=1)
        assert len(few["objects"]) == 1 and few["rest"] == few["total"] - few["matrix"][0][0]


def case_eviction_lines_have_innermost_frames():
    record([program("userlines")])
    find = at("tests/programs/userlines.cpp", "find")
    with served("p.nmp") as s:
        lines = [row for row in s.get("/api/p/0/evictions/lines")["rows"] if row["line"] == row["victim_line"] == find]
        assert lines and all(row["inner_file"] and row["victim_inner_file"] for row in lines), lines
        assert any(row["victim_inner_file"].endswith("stl_tree.h") and row["victim_inner_line"] != find for row in lines), lines
        assert any(row["inner_function"].startswith("std::") for row in lines), lines


def case_histograms_and_curves():
    with served(make_profile()) as s:
        sets = s.get("/api/p/0/histogram", of="set", level="L1d", bins=8)["bins"]
        loads = query("SELECT sum(loads) FROM sets WHERE level = 'L1d'")[0][0]
        assert len(sets) == 8 and sum(b["values"]["loads"] for b in sets) == loads
        assert (sets[0]["from"], sets[-1]["to"]) == (0, 31)
        part = s.get("/api/p/0/histogram", of="set", level="L1d", **{"from": 4, "to": 7})["bins"]
        assert [b["values"] for b in part] == [b["values"] for b in
                                               s.get("/api/p/0/histogram", of="set", level="L1d")["bins"][4:8]]
        reuse = s.get("/api/p/0/histogram", of="reuse")["bins"]
        assert sum(b["values"]["references"] for b in reuse) == query("SELECT sum(reads + writes) FROM counts WHERE level = 'L1d'")[0][0]
        curves = s.get("/api/p/0/curves")
        assert curves["series"][0]["points"][0]["ratio"] <= 1 and curves["machine_sizes"][0]["size"] == 4096
        starts = {curve["points"][0]["size"] for curve in s.get("/api/p/0/curves", by="object")["series"]}
        assert len(starts) == 1, starts
        assert s.get("/api/p/0/sharing")["note"]


def case_lines_of_memory():
    """Who serves each line of memory: as `nearmiss monitor` prints it, line by line, and added up in bins."""
    done = nearmiss("monitor", "-q", "--histogram=line", "-c", "L1d=2K,2,32:L2=16K,4,32", "--profile=m.nmp", "--format=csv", "-n", "0",
                    "-o", "m.csv", "--", "true")
    assert done.returncode == 0, done.stderr
    with open("m.csv", encoding="utf-8", newline="") as f:
        printed = list(csv.DictReader(f))
    with served("m.nmp") as s:
        def histogram(**query):
            return s.get("/api/p/0/histogram", of="served", **query)
        assert histogram(bins=1)["places"] == len(printed) > 100
        for first in range(0, len(printed), 1000):
            last = min(first + 999, len(printed) - 1)
            shown = histogram(bins=1000, **{"from": first, "to": last})["bins"]
            assert [b["from"] for b in shown] == [b["to"] for b in shown] == list(range(first, last + 1))
            for b, row in zip(shown, printed[first:]):
                assert b["address"] == int(row["address"], 0), (b, row)
                assert all(b["values"][name] == int(row[name]) for name in ("L1d", "L2", "memory")), (b, row)
        bins = histogram(bins=7)["bins"]
        for name in ("L1d", "L2", "memory"):
            assert sum(b["values"][name] for b in bins) == sum(int(row[name]) for row in printed)
        s.refuses(400, "GET", f"/api/p/0/histogram?of=served&to={len(printed)}")
        s.refuses(400, "GET", "/api/p/0/histogram?of=served&from=5&to=4")


def case_sources_and_lines():
    shutil.copy(NEST, "own.nest")
    nearmiss("nest", "-q", "-o", "p.nmp", "--cache", "L1d=4K,2,64", "own.nest")
    with served("p.nmp") as s:
        source = s.get("/api/p/0/sources")[0]
        answer = s.get("/api/p/0/source", file=source["file"])
        with open("own.nest", encoding="utf-8") as f:
            texts = f.read().expandtabs(8).splitlines()
        assert source["available"] and [line["text"] for line in answer["lines"] if line["text"]]
        for line in answer["lines"]:
            assert line["text"] is None or line["text"].split() == texts[line["n"] - 1].split()
        hot = max((line for line in answer["lines"] if line["figures"].get("misses")), key=lambda x: x["figures"]["misses"])
        detail = s.get("/api/p/0/line", file=source["file"], line=hot["n"])
        assert sum(o["misses"] for o in detail["objects"]) == hot["figures"]["misses"]
        assert sum(detail["classes"].values()) == sum(o["loads"] for o in detail["objects"])


def merge_nests(*sizes):
    for rank, size in enumerate(sizes):
        nearmiss("nest", "-q", "-o", f"{rank}.nmp", "--cache", "L1d=8K,8,64:L2=64K,8,64", "-s", f"N={size}",
                 os.path.join(TOP, "examples/order.nest"))
    done = nearmiss("merge", "-q", "-o", "merged.nmp", *(f"{rank}.nmp" for rank in range(len(sizes))))
    assert done.returncode == 0, done.stderr


def case_inputs():
    """What a merged profile says of an input is what the input's own profile says; what it does not hold is refused."""
    merge_nests(40, 200, 60)
    with served("merged.nmp", "0.nmp", "1.nmp", "2.nmp") as s:
        assert [p["merged"] for p in s.get("/api/session")["profiles"]] == ["3", "", "", ""]
        for level in ("L1d", "L2"):
            listed = s.get("/api/p/0/inputs", level=level)
            assert listed["total"] == 3 == sum(group["profiles"] for group in listed["groups"])
            for i in range(3):
                one, own = {"input": f"{i}.nmp", "level": level}, {"level": level}
                misses = [row["misses"] for row in listed["inputs"] if row["input"] == one["input"]]
                levels = [[{key: row.get(key) for key in row if key != "cycles"} for row in s.get(f"/api/p/{p}/overview", **asked)["levels"]]
                          for p, asked in ((0, one), (i + 1, own))]
                assert levels[0] == levels[1] and misses == [row["misses"] for row in levels[0] if row["level"] == level]
                for by in ("object", "function", "file,line"):
                    for name in ("misses", "share", "mpki", "loads"):
                        sides = [column(s.get(f"/api/p/{p}/table", by=by, sort="misses", **asked), name)
                                 for p, asked in ((0, one), (i + 1, own))]
                        assert sides[0][0] == [value for value in sides[1][0] if value], (by, name, i)  # not what misses nothing
                        assert sides[0][1:] == sides[1][1:], (by, name, i)
                    assert s.get("/api/p/0/tree", by=by, **one) == s.get(f"/api/p/{i + 1}/tree", by=by, **own)
                file = s.get("/api/p/0/sources", **one)
                assert file == s.get(f"/api/p/{i + 1}/sources", **own)
                sources = [s.get(f"/api/p/{p}/source", file=file[0]["file"], **asked) for p, asked in ((0, one), (i + 1, own))]
                lines = [[(line["n"], line["text"], line["figures"]["misses"] or 0, line["figures"]["mpki"] or 0) for line in source["lines"]]
                         for source in sources]
                assert lines[0] == lines[1] and sum(line[2] for line in lines[0]) == misses[0]
                assert "evictions" in sources[1]["lines"][0]["figures"] and "evictions" not in sources[0]["lines"][0]["figures"]
        detail = s.get("/api/p/0/line", file=file[0]["file"], line=13, input="1.nmp")
        assert detail["objects"] and not {"classes", "reuse", "evictors", "reuses"} & set(detail)
        assert "thread" not in s.get("/api/p/0/dimensions", input="1.nmp") and "thread" in s.get("/api/p/0/dimensions")
        for wrong in ("table?by=thread", "table?sort=reuse", "tree?metric=cold", "evictions?", "curves?", "histogram?of=set",
                      "sharing?", "structures?", "timeline?", "inputs?"):
            s.refuses(400, "GET", f"/api/p/0/{wrong}&input=1.nmp")
        for wrong in ("overview", "table", "source", "line", "metrics", "dimensions"):
            s.refuses(400, "GET", f"/api/p/0/{wrong}?input=no&file=x&line=1")
            s.refuses(400, "GET", f"/api/p/1/{wrong}?input=1.nmp&file=x&line=1")


def case_file_asks_for_levels_of_data_first():
    """Lines of code are those of the first level of data, also where instructions have a level before it; and of inputs."""
    merge_nests(40, 60)
    with sqlite3.connect("merged.nmp") as db:
        db.execute("UPDATE level SET side = 'instruction' WHERE name = 'L1d'")
        db.execute("UPDATE input SET name = 'rank 1', rank = 1 WHERE id = 1")
    db.close()
    answers = {key: answer for part in answers_of(written_page("merged.nmp")) for key, answer in json.loads(part).items()}
    lines = [key for key in answers if "/line?" in key or "/source?" in key]
    assert lines and all("level=L2" in key for key in lines), lines
    assert "levels" in answers["GET /api/p/0/overview?input=rank%201"]
    assert answers["GET /api/p/0/inputs?level=L2"]["total"] == 2


def case_compare():
    make_profile("a.nmp")
    nearmiss("nest", "-q", "-o", "b.nmp", "--cache", "L1d=8K,2,64:L2=64K,8,64", NEST)
    with served("a.nmp", "b.nmp") as s:
        assert [p["n"] for p in s.get("/api/session")["profiles"]] == [0, 1]
        answer = s.get("/api/compare", a=0, b=1, by="object", sort="misses")
        parts = [s.get("/api/compare", by="object", sort="misses", offset=i, limit=1)["rows"] for i in range(answer["changed"] + 1)]
        assert [row for part in parts for row in part] == answer["rows"] and answer["rows"]
        for row in answer["rows"]:
            for side, path in (("a", "a.nmp"), ("b", "b.nmp")):
                assert row["misses_" + side] == query("SELECT sum(read_misses + write_misses) FROM counts WHERE level = 'L1d' "
                                                      f"AND object = '{row['object']}'", path)[0][0]
            assert row["misses_change"] == row["misses_b"] - row["misses_a"]
        changes = [abs(row["misses_change"]) for row in answer["rows"]]
        assert changes == sorted(changes, reverse=True)
        printed = json.loads(nearmiss("diff", "--format=json", "--level=L2", "a.nmp", "b.nmp").stdout)
        assert s.get("/api/compare", level="L2", limit=20) == printed
        assert s.get("/api/compare", a=1, b=1)["rows"] == []
        for wrong in ("by=nothing", "sort=nothing", "level=L9", "process=none", "limit=0"):
            s.refuses(400, "GET", "/api/compare?" + wrong)

    shutil.copy("a.nmp", "sampled.nmp")
    with sqlite3.connect("sampled.nmp") as db:  # as often at each place
        db.execute("INSERT INTO entry VALUES('sampled_events', 'mem-loads')")
        db.execute("INSERT INTO sample SELECT process, 1, id, NULL, 'load', 'memory', 0, NULL, NULL, 0, NULL, NULL, 1000, 0, NULL, "
                   "NULL, 0 FROM place WHERE site IS NOT NULL")
    db.close()
    with served("a.nmp", "sampled.nmp") as s:
        rows = s.get("/api/compare")["rows"]
        parts = [s.get("/api/compare", offset=i, limit=1)["rows"] for i in range(len(rows))]
        assert len(rows) > 1 and parts == [[row] for row in rows]


def case_timeline():
    """What `nearmiss timeline` prints, of each process, in two answers."""
    stored = os.path.join(TOP, "tests/data/profile-timeline.nmp")
    with served(stored, make_profile("a.nmp")) as s:
        for by in ("object", "line"):
            printed = json.loads(nearmiss("timeline", "-i", stored, "--format=json", f"--by={by}", "--level=L2", "--limit=0").stdout)
            course, rows = s.get("/api/p/0/timeline"), s.get("/api/p/0/timeline/rows", by=by, level="L2")
            assert course["processes"] == [{"process": course["process"]}]
            assert course["intervals"] == printed["intervals"] and rows["rows"] == printed["rows"]
            assert (rows["by"], rows["level"]) == (by, "L2")
        assert len(s.get("/api/p/0/timeline/rows", by="line", limit=1)["rows"]) == 1
        for level, misses in query("SELECT level, sum(read_misses + write_misses) FROM levels GROUP BY level", "a.nmp"):
            cells = [cell for i in s.get("/api/p/1/timeline")["intervals"] for cell in i["levels"] if cell["level"] == level]
            assert sum(cell["read_misses"] + cell["write_misses"] for cell in cells) == misses > 0
        for wrong in ("timeline?process=none", "timeline/rows?by=x", "timeline/rows?level=L9", "timeline/rows?limit=0"):
            s.refuses(400, "GET", "/api/p/0/" + wrong)
    with served(os.path.join(TOP, "tests/data/profile-v1.nmp")) as s: # has none
        s.refuses(400, "GET", "/api/p/0/timeline")


def case_structures():
    """Of a stored profile with fields."""
    with served(os.path.join(TOP, "tests/data/profile-v1.nmp")) as s:
        for structure in s.get("/api/p/0/structures"):
            offsets = [field["offset"] for field in structure["fields"]]
            assert offsets == sorted(offsets) and structure["objects"]
            n = len(offsets)
            assert [len(row) for row in structure["affinity"]] == [n] * n
            assert all(structure["affinity"][i][j] == structure["affinity"][j][i] for i in range(n) for j in range(n))


def case_lines_of_a_field():
    """Lines that access a field have its misses; no other type has it."""
    with served(os.path.join(TOP, "tests/data/profile-v1.nmp")) as s:
        structure = s.get("/api/p/0/structures")[0]
        field = max(structure["fields"], key=lambda one: one["misses"])
        table = s.get("/api/p/0/table", by="file,line", type=structure["type"], field=field["name"])
        keys = [column["key"] for column in table["columns"]]
        assert sum(row[keys.index("misses")] for row in table["rows"]) == field["misses"] > 0
        assert len(table["rows"]) < len(s.get("/api/p/0/table", by="file,line", limit=1000)["rows"])
        for wrong in ({"type": "none", "field": field["name"]}, {"type": structure["type"], "field": "none"}):
            assert s.get("/api/p/0/table", by="file,line", **wrong)["rows"] == []


def case_answers_in_parts():
    """Curves, contended lines and structures one by one are the same as all at once, and behind them is nothing."""
    with open("t.csv", "w", encoding="utf-8") as f:
        f.write("addr,rw,size,thread,object\n" + "".join(
            f"{0x10000 + 64 * line + 8 * thread},w,8,{thread},counter {line}\n" for _ in range(5) for line in range(6) for thread in (1, 2)))
    nearmiss("replay", "-q", "--distances", "--cores", "2", "--quantum", "1", "-c", "L1d=1K,2,64:L2=8K,4,64", "-o", "p.nmp", "t.csv")
    with served("p.nmp", os.path.join(TOP, "tests/data/profile-v1.nmp")) as s:
        for path, listed in (("0/sharing?by=line", "rows"), ("0/sharing?by=object", "rows"), ("0/curves?by=object", "series"),
                             ("1/structures?", None)):
            def ask(part, path=path, listed=listed):
                answer = s.get(f"/api/p/{path}{part}")
                return answer[listed] if listed else answer
            together = ask("&limit=1000")
            assert len(together) > (1 if listed else 0), path
            parts = [ask(f"&offset={i}&limit=1") for i in range(len(together) + 1)]
            assert [len(part) for part in parts] == [1] * len(together) + [0], path
            for key in ("name", "block", "thread", "object", "type", "misses"):
                assert [part[0].get(key) for part in parts[:-1]] == [one.get(key) for one in together], (path, key)
            s.refuses(400, "GET", f"/api/p/{path}&offset=-1")


# ---- the debugger ----

def case_debugger():
    """A loop nest is stepped through; what the debugger is told comes from POST alone."""
    with served("--cache", "L1d=4K,2,64", NEST) as s:
        session = s.get("/api/session")
        assert session["profiles"] == [] and session["debugger"]["total"] > 1000
        first = s.get("/api/d/state")
        assert first["position"] == 0
        assert post(s, "/api/d/step", {"count": 10})["position"] == 10
        there = post(s, "/api/d/goto", {"position": 900})
        post(s, "/api/d/step", {"count": -400})
        assert s.get("/api/d/state")["position"] == 500
        assert post(s, "/api/d/goto", {"position": 900}) == there
        s.refuses(MISSING, "GET", "/api/d/step")
        s.refuses(MISSING, "GET", "/api/d/nothing")
        for body in (b"", b"{", b"[]", b"\0", b"{\"count\": \"x\"}", b"[" * 60000):
            status, _, text = s.ask("POST", "/api/d/step", body, Content_Type="application/json")
            assert status in (200, 400) and (status == 200) == (body == b""), (body[:9], status, text)
        s.refuses(FORBIDDEN, "POST", "/api/d/step", b"{}", Content_Type="application/json", Origin="http://example.org")
        s.refuses(MISSING, "GET", "/api/p/0/overview")


def case_debugger_tabs():
    """Tabs keep apart where they are, what they stop at, and how their nest is changed, however many there are."""
    with served("--cache", "L1d=4K,2,64", NEST) as s:
        tabs = [f"tab-{i}" for i in range(20)]
        states = {}
        for i, tab in enumerate(tabs):
            assert s.get("/api/d/state", tab=tab)["position"] == 0
            if i % 4 == 1:
                post(s, f"/api/d/nest?tab={tab}", {"parameters": {"N": 32 + i}})
            states[tab] = post(s, f"/api/d/goto?tab={tab}", {"position": 100 * i + 7})
            post(s, f"/api/d/breakpoints?tab={tab}", {"kind": "reference", "position": 100 * i + 10})
        for i, tab in enumerate(tabs):
            assert dict(s.get("/api/d/state", tab=tab), stopped_by=None) == dict(states[tab], stopped_by=None)
            assert s.get("/api/d/session", tab=tab)["parameters"]["N"] == (32 + i if i % 4 == 1 else 1000)
            assert post(s, f"/api/d/run?tab={tab}", {"until": "breakpoint"})["position"] == 100 * i + 10
        assert s.get("/api/d/state")["position"] == 0
        for i in range(64):
            s.get("/api/d/state", tab=f"other-{i}")
        assert s.get("/api/d/state", tab="tab-3")["position"] == 0
        s.refuses(400, "GET", "/api/d/state?tab=" + "x" * 41)


def case_debugger_marks_the_core_that_referenced():
    """The grids of other cores have no cursor; that of a shared level always has."""
    with open("t.csv", "w", encoding="utf-8") as f:
        f.write("addr,rw,size,thread\n" + "".join(f"{4096 + 64 * (i // 2)},r,4,{1 + i % 2}\n" for i in range(40)))
    with served("t.csv", "--cores", "2", "--quantum", "1", "-c", "L1d=512,2,64:L2=2K,4,64") as s:
        cores = set()
        for position in range(1, 9):
            core = post(s, "/api/d/goto", {"position": position})["reference"]["core"]
            cores.add(core)
            assert s.get("/api/d/grid", level="L1d", core=core)["cursor"], position
            assert s.get("/api/d/grid", level="L1d", core=1 - core)["cursor"] is None, position
        assert cores == {0, 1}
        post(s, "/api/d/goto", {"position": 1})
        assert s.get("/api/d/grid", level="L2")["cursor"]


# ---- files and sizes ----

def written_page(*profiles):
    done = nearmiss("view", "--html", "page.html", *profiles)
    if b"without its pages" in done.stderr:
        raise Skip("built without its pages")
    assert done.returncode == 0, done.stderr
    with open("page.html", encoding="utf-8") as f:
        return f.read()


def answers_of(page):
    """Those of the first page, which stand before the script, and those behind it, as JSON."""
    return re.findall(r'<script type="application/json" id="(?:more-)?answers">(.*?)</script>', page, re.DOTALL)


def case_file_gives_the_same_answers():
    page = written_page(make_profile())
    first, more = map(json.loads, answers_of(page))
    assert {"GET /api/session", "GET /api/p/0/overview"} == set(first) and not set(first) & set(more)
    answers = first | more
    assert not re.search(r'(src|href)="(?!data:)', page.split('id="answers"')[0]), "something is fetched"
    with served("p.nmp") as s:
        for key, answer in answers.items():
            method, path = key.split(" ", 1)
            status, _, text = s.ask(method, path)
            assert json.loads(text) == answer and (status == 200) == ("error" not in answer), key
    assert nearmiss("export", "html", "-i", "p.nmp").stdout.decode() == page
    assert nearmiss("export", "html", "p.nmp").stdout.decode() == page


def case_exported_debugger_is_that_of_view():
    """Of a nest and of a trace of two processes, with all that selects a part of them."""
    profile = make_profile()
    nest = os.path.join(TOP, "examples/interference.nest")
    with open("t.csv", "w", encoding="utf-8") as f:
        f.write("addr,rw,size,thread\n" + "".join(f"{4096 + 40 * i},w,4,{1 + i % 2}\n" for i in range(500)))
    for options in ([nest, "-c", "L1d=8K,1,32", "-s", "N=20", "--from", "9"], [profile, nest, "-c", "L1d=8K,1,32", "--from", "5", "--to", "104"],
                    ["t.csv", "-c", "L1d=512,2,64", "--cores", "2", "--quantum", "1", "--process", "1", "--to", "400"]):
        page = written_page(*options)
        done = nearmiss("export", "html", "-o", "exported.html", *options)
        assert done.returncode == 0, done.stderr
        with open("exported.html", encoding="utf-8") as f:
            assert f.read() == page and 'data-kind="run"' in page, options
    for wrong in (["t.csv", nest], ["--process", "x", "t.csv"],
                  ["-c", "L1d=8K,1,32", profile], ["-t", "1", nest]):
        assert nearmiss("export", "html", *wrong).returncode == 2, wrong


REORDER = "reorder struct order: price, count, state"


def case_prediction_is_that_of_whatif():
    """Of a profile that names its trace, and of one that is given it."""
    record([program("fault-cold"), "2"], "--machine=zen3", "--trace=t.nmt")
    (spec,), = rows("SELECT value FROM info WHERE key = 'machine_spec'")
    done = nearmiss("whatif", "t.nmt", "-q", "--cache", spec, "--format=json", "-a", REORDER)
    assert done.returncode == 0, done.stderr
    levels = json.loads(done.stdout)["rows"]
    with served("p.nmp") as s:
        assert s.get("/api/session")["profiles"][0]["trace"] == os.path.abspath("t.nmt")
        assert s.get("/api/prediction") == {"state": "none"}
        answer = predicted(s, REORDER)
        assert answer["state"] == "done" and answer["rows"] == levels and not answer["messages"], answer
        members = next(one for one in s.get("/api/p/0/structures") if one["type"] == "struct order")["members"]
        assert [(m["name"], m["offset"], m["size"], m["align"]) for m in members] == [
            ("price", 0, 8, 8), ("customer", 8, 72, 1), ("count", 80, 8, 8), ("address", 88, 72, 1), ("state", 160, 8, 8)], members
    os.mkdir("moved")
    os.rename("t.nmt", "moved/t.nmt")
    with served("p.nmp") as s:
        assert s.get("/api/session")["profiles"][0]["trace"] is None
        status, _, text = s.ask("POST", "/api/prediction", json.dumps({"profile": 0, "candidate": REORDER}).encode(),
                                Content_Type="application/json")
        assert status == 400 and b"there is no trace" in text, text
    with served("--trace", "moved/t.nmt", "p.nmp") as s:
        assert predicted(s, REORDER)["rows"] == levels
    assert nearmiss("view", "--no-browser", "--trace", "t.nmt", "p.nmp").returncode == 121


def case_prediction_that_fails_or_is_cancelled():
    record([program("fault-cold"), "2"], "--machine=zen3", "--trace=t.nmt")
    with served("p.nmp") as s:
        answer = predicted(s, "reorder struct orders: price")
        assert answer["state"] == "failed" and "did you mean order?" in answer["messages"], answer
        for body in (b"", b"[]", b'{"profile": 1, "candidate": "soa order"}', b'{"profile": 0, "candidate": "@t.nmt"}'):
            s.refuses(400, "POST", "/api/prediction", body, Content_Type="application/json")
        s.refuses(TYPE, "POST", "/api/prediction", b"{}")
        post(s, "/api/prediction", {"profile": 0, "candidate": REORDER})
        s.refuses(400, "POST", "/api/prediction", json.dumps({"profile": 0, "candidate": REORDER}).encode(),
                  Content_Type="application/json")
        status, _, text = s.ask("DELETE", "/api/prediction")
        assert status == 200 and json.loads(text)["state"] == "cancelled", text
        assert predicted(s, REORDER)["state"] == "done"
        post(s, "/api/prediction", {"profile": 0, "candidate": REORDER})  # ends with the server


def case_file_is_written_with_progress():
    """On a terminal, and nowhere else."""
    command = [NEARMISS, "view", "--html", "p.html", make_profile()]
    assert subprocess.run(command, stderr=subprocess.PIPE, env=ENVIRONMENT, check=True).stderr == b""
    end, terminal = pty.openpty()
    with subprocess.Popen(command, stderr=terminal, env=ENVIRONMENT):
        os.close(terminal)
        said = b""
        with contextlib.suppress(OSError):  # which ends a terminal
            while part := os.read(end, 4096):
                said += part
    os.close(end)
    counts = [int(count) for count in re.findall(rb"nearmiss: (\d+) answers, [\d.]+ MB", said)]
    assert len(counts) > 20 and counts == sorted(counts), said
    assert said.endswith(b"\r\x1b[K"), said[-40:]


def case_file_that_cannot_be_written():
    make_profile()
    assert nearmiss("view", "--html", "p.nmp", "p.nmp").returncode == 122
    assert nearmiss("view", "--html", "no/where", "p.nmp").returncode == 122
    assert nearmiss("export", "html", "-i", "p.nmp", "--level", "L1d").returncode == 2
    assert nearmiss("export", "html", "-i", "p.nmp", "p.nmp").returncode == 2
    assert nearmiss("export", "html", "-o", "p.nmp", "p.nmp").returncode == 122
    assert nearmiss("export", "csv", "-c", "L1d=8K,1,32", "-i", "p.nmp").returncode == 2
    assert query("SELECT count(*) FROM levels")


def case_port_that_is_taken():
    with served(make_profile()) as s:
        done = nearmiss("view", "--no-browser", "--port", str(s.port), "p.nmp")
        assert done.returncode == 125 and str(s.port).encode() in done.stderr, done


def grow(path, places):
    """Adds so many places, with counts at two levels, to a profile."""
    with sqlite3.connect(path) as db:
        db.executescript(f"""
            CREATE TEMP TABLE k AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < {places}) SELECT i FROM r;
            INSERT INTO text SELECT 1000000 + i, 'function_' || i FROM k WHERE i <= {places} / 20 + 1;
            INSERT INTO text SELECT 3000000 + i, '/src/file_' || i || '.c' FROM k WHERE i <= {places} / 500 + 1;
            INSERT INTO text SELECT 5000000 + i, 'heap object_' || i FROM k WHERE i <= {places} / 50 + 1;
            INSERT INTO object SELECT 1000000 + i, (SELECT min(id) FROM process), 5000000 + i, 'heap', NULL, 4096, 1, 4096, NULL, 0
                FROM k WHERE i <= {places} / 50 + 1;
            INSERT INTO site SELECT 1000000 + i, 1000001 + i % ({places} / 20), 3000001 + i % ({places} / 500 + 1), i, 1000000 + i,
                1000000 + i, 0, NULL, NULL FROM k;
            INSERT INTO place SELECT 1000000 + i, 1, 1000000 + i, 5000001 + i % ({places} / 50 + 1), NULL, NULL FROM k;
            INSERT INTO cell SELECT l.id, 1, 1000000 + k.i, 1000 + k.i % 1003, 100, k.i * 7919 % 1003, 1, 2, k.i % 1000, 1, 0,
                k.i % 1003 + 1, 8000, 3000, 64 * (k.i % 1003 + 1), 5, 1, 0, 0, 0, 0 FROM level l CROSS JOIN k;
            INSERT INTO eviction SELECT (SELECT min(id) FROM level), 1000000 + i, 1000001 + i * 31 % ({places} - 1), 1 + i % 77, 0
                FROM k;""")
    db.close()


def case_large_profile_has_small_answers():
    """1e5 rows of counts: every answer is bounded, and so is a file of them."""
    grow(make_profile(), 50000)
    with served("p.nmp") as s:
        for path in ("overview", "table?by=object,file,line&limit=1000", "tree?by=object,function&nodes=2000", "sources",
                     "evictions?top=200", "evictions/lines"):
            status, _, text = s.ask("GET", "/api/p/0/" + path)
            assert status == 200 and len(text) < 1 << 20, (path, status, len(text))


if __name__ == "__main__":
    main(globals())
