import { expect, test } from "vitest";
import type { Credentials } from "../../src/http/authenticator.js";
import { operatorDoor } from "../../src/http/operator-door.js";
import { AppError } from "../../src/platform/errors.js";

const TOKEN = "operate-0123456789";

function asking(headers: Readonly<Record<string, string>> = {}): Credentials {
  const request = new Request("http://localhost/v1/operator/users", { headers });
  return { method: "GET", url: request.url, header: (name) => request.headers.get(name) ?? undefined, request };
}

test("[operator-apart] a session opens the door beside the token, and what its check throws is the answer", () => {
  const door = operatorDoor({ OPERATOR_TOKEN: TOKEN }, (request) => {
    if (request.header("Cookie") === "stolen") throw new AppError("FORBIDDEN_ORIGIN");
    return request.header("Cookie") === "mine";
  });
  door.enter(asking({ Authorization: `Bearer ${TOKEN}` }));
  door.enter(asking({ Cookie: "mine" }));
  expect(() => door.enter(asking({ Cookie: "other" }))).toThrow(expect.objectContaining({ code: "UNAUTHENTICATED" }));
  expect(() => door.enter(asking({ Cookie: "stolen" }))).toThrow(expect.objectContaining({ code: "FORBIDDEN_ORIGIN" }));
});

test("[operator-apart] without OPERATOR_TOKEN no session opens anything", () => {
  const door = operatorDoor({}, () => true);
  expect(() => door.enter(asking({ Cookie: "mine" }))).toThrow(expect.objectContaining({ code: "NOT_FOUND" }));
});
