"""The HTTP API from Python, with nothing but its standard library: what one session says, the next one knows.

python3 examples/python-client.py against a server that runs (npm start); MAITRED_URL is another address.
"""

import json
import os
import urllib.error
import urllib.request

URL = os.environ.get("MAITRED_URL", "http://127.0.0.1:3000")
# In AUTH_MODE=local the header says who asks; elsewhere it is "Authorization": "Bearer ...".
HEADERS = {"Content-Type": "application/json", "X-User-Id": os.environ.get("MAITRED_USER", "ada")}


class Problem(Exception):
    """What the API refuses: `code` is stable, the texts are not."""

    def __init__(self, problem):
        super().__init__(f"{problem['code']}: {problem['detail']} {problem['hint']}")
        self.code = problem["code"]


def ask(method, path, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {**HEADERS, **headers}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response) if response.status != 204 else None
    except urllib.error.HTTPError as error:
        raise Problem(json.load(error)) from None


first = ask("POST", "/v1/chat", {"message": "I prefer jazz concerts, and I need step-free access."})
print("First session: ", first["message"]["content"])
# What is said is read for memories after the answer: this waits for it, which only an example has to.
ask("POST", f"/v1/sessions/{first['session_id']}/flush")

second = ask("POST", "/v1/chat", {"message": "Anything good this weekend?"})
print("Second session:", second["message"]["content"])
recalled = [memory["text"] for memory in second["memory"]["recalled"]]
assert any("jazz" in text for text in recalled), recalled
assert any("step-free" in text for text in recalled), recalled

for memory in ask("POST", "/v1/memories/search", {"query": "jazz"})["data"]:
    ask("DELETE", f"/v1/memories/{memory['id']}")
    try:
        ask("GET", f"/v1/memories/{memory['id']}")
        raise SystemExit("It should be gone.")
    except Problem as problem:
        assert problem.code == "MEMORY_NOT_FOUND", problem
print("The second session knew what the first was told, and it is forgotten.")
