#!/usr/bin/python3
"""A web site for the stories with browsers: each of its names is served with and without encryption.

usage: login-site.py CERTIFICATE RECEIVED

  /login    a form for a user and a password
  /bare     the same fields without a form
  /framed   a form, and a frame with the form of the site that the query names: /framed?other.test
  /code     the form, and a field for a one-time code

What a form sends is appended to the file RECEIVED, as a line of JSON with the host and the fields.
"""
import http.server
import json
import ssl
import sys
import threading
import urllib.parse

FIELDS = """<p><label>User <input id=user name=user autocomplete=username style="width: 300px"></label>
<p><label>Password <input id=password name=password type=password autocomplete=current-password style="width: 300px"></label>"""
CODE = """<p><label>Code <input id=code name=totp autocomplete=one-time-code style="width: 300px"></label>"""
BUTTON = "<p><button id=send>Sign in</button>"
PAGES = {
    "/login": f"<form method=post action=/login>{FIELDS}{BUTTON}</form>",
    "/bare": f"{FIELDS}{BUTTON}",
    "/framed": f"<form method=post action=/login>{FIELDS}{BUTTON}</form>"
               "<iframe src='https://{query}/login' style='width: 600px; height: 250px'></iframe>",
    "/code": f"<form method=post action=/code>{FIELDS}{CODE}{BUTTON}</form>",
}


class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def show(self, text):
        page = f"<!doctype html><meta charset=utf-8><title>{self.headers['Host']}</title><h1>{self.headers['Host']}</h1>{text}"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page.encode())))
        self.end_headers()
        self.wfile.write(page.encode())

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        page = PAGES.get(address.path)
        if page is None:
            return self.send_error(404)
        self.show(page.replace("{query}", address.query))

    def do_POST(self):
        fields = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        sent = {"host": self.headers["Host"], **{name: values[0] for name, values in fields.items()}}
        with open(sys.argv[2], "a", encoding="utf-8") as received:
            received.write(json.dumps(sent) + "\n")
        self.show("<p>Welcome</p>")


plain = http.server.ThreadingHTTPServer(("127.0.0.8", 80), Site)
sealed = http.server.ThreadingHTTPServer(("127.0.0.8", 443), Site)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1])
sealed.socket = context.wrap_socket(sealed.socket, server_side=True)
threading.Thread(target=plain.serve_forever, daemon=True).start()
sealed.serve_forever()
