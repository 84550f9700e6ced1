import { tell } from "./bus.js";

/** The server's API as the page uses it. */

/** Where the server's paths begin: this file is two folders below. */
const ROOT = new URL("../../", import.meta.url);
const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A problem that the server answered with, or its being out of reach. */
export class Problem extends Error {
  constructor(body) {
    super(body.detail || body.title || "Something went wrong");
    this.title = body.title ?? "Something went wrong";
    this.code = body.code ?? "UNKNOWN";
    this.hint = body.hint ?? "";
    this.status = body.status ?? 0;
    this.requestId = body.request_id ?? "";
  }
}

export const identity = {
  user: localStorage.getItem("maitred.user") ?? "",
  token: sessionStorage.getItem("maitred.token") ?? "",
  asUser(user) {
    this.user = user;
    localStorage.setItem("maitred.user", user);
  },
  withToken(token) {
    this.token = token;
    sessionStorage.setItem("maitred.token", token);
  },
};

function headers(more) {
  return {
    ...(timeZone ? { "X-Timezone": timeZone } : {}),
    ...(identity.token ? { Authorization: `Bearer ${identity.token}` } : {}),
    ...(identity.user ? { "X-User-Id": encodeHeader(identity.user) } : {}),
    ...more,
  };
}

/** Header values are bytes: text goes as UTF-8. */
function encodeHeader(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

/** `raw`: a body as it is, instead of JSON; `keepalive`: it goes on when the page is left. @throws Problem */
export async function request(method, path, { body, raw, signal, keepalive = false, headers: more } = {}) {
  let response;
  try {
    response = await fetch(new URL(path.slice(1), ROOT), {
      method,
      signal,
      keepalive,
      headers: headers({ ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...more }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(raw === undefined ? {} : { body: raw }),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tell("unreachable");
    throw new Problem({ detail: "The connection is gone for the moment.", code: "OFFLINE" });
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({ title: `The server answered ${response.status}`, status: response.status }));
  throw new Problem(problem);
}

export async function json(method, path, options) {
  const response = await request(method, path, options);
  return response.status === 204 ? null : response.json();
}

const id = encodeURIComponent;
/** A path whose inserted parts are escaped. */
export const path = (parts, ...inserted) => parts.reduce((whole, part, n) => whole + id(inserted[n - 1]) + part);
export const query = (params) => {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};

export const api = {
  me: () => json("GET", "/v1/me"),
  /** How the server's parts are; null where it doesn't tell. */
  ready: () => json("GET", "/readyz").catch(() => null),
  /** Whether the server answers. */
  alive: () =>
    fetch(new URL("healthz", ROOT), { cache: "no-store" }).then(
      ({ ok }) => ok,
      () => false,
    ),
  sessions: (params) => json("GET", `/v1/sessions${query(params)}`),
  thread: (session) => json("GET", `/v1/sessions/${id(session)}/thread`),
  rename: (session, title) => json("PATCH", `/v1/sessions/${id(session)}`, { body: { title } }),
  remove: (session) => json("DELETE", `/v1/sessions/${id(session)}`),
  restore: (session) => json("POST", `/v1/sessions/${id(session)}/restore`),
  flush: (session) => json("POST", `/v1/sessions/${id(session)}/flush?timeout_ms=10000`),
  memories: (params) => json("GET", `/v1/memories${query(params)}`),
  remember: (memory) => json("POST", "/v1/memories", { body: memory, headers: { "Idempotency-Key": crypto.randomUUID() } }),
  edit: (memory, text) => json("PATCH", `/v1/memories/${id(memory)}`, { body: { text } }),
  forget: (memory) => json("DELETE", `/v1/memories/${id(memory)}`),
  approve: (memory) => json("POST", `/v1/memories/${id(memory)}/approve`),
  reject: (memory) => json("POST", `/v1/memories/${id(memory)}/reject`),
  why: (memory) => json("GET", `/v1/memories/${id(memory)}/why`),
  exportAll: async () => (await request("GET", "/v1/me/export")).blob(),
  eraseAll: () => json("DELETE", "/v1/me?confirm=true"),
};
