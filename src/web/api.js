import { forGood, forThisTab } from "./browser-store.js";
import { tell } from "./bus.js";

/** The server's API as the page uses it. */

/** Where the server's paths begin: this file is two folders below. */
const ROOT = new URL("../../", import.meta.url);
const ALIVE_MS = 10_000;
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
    /** Seconds after which trying again makes sense; 0 where the server doesn't say. */
    this.retryAfter = body.retry_after ?? 0;
  }
}

export const identity = {
  user: forGood.get("maitred.user") ?? "",
  token: forThisTab.get("maitred.token") ?? "",
  asUser(user) {
    this.user = user;
    forGood.set("maitred.user", user);
  },
  withToken(token) {
    this.token = token;
    forThisTab.set("maitred.token", token);
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

let signIn = async () => false;
let askingToSignIn = 0;

/** Whether a request waits for the guest to sign in: however long that takes. */
export const isSigningIn = () => askingToSignIn > 0;

async function signInAgain(token, method) {
  askingToSignIn += 1;
  try {
    return await signIn(token, method);
  } finally {
    askingToSignIn -= 1;
  }
}

/** `ask(token, method)`: called where the server doesn't take that token (any more); gives whether there is another by now. */
export function whenSignedOut(ask) {
  signIn = ask;
}

/** A new name for a request. Browsers have `randomUUID` only where the page came by HTTPS or from this machine. */
export function freshKey() {
  return (
    crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
  );
}

/**
 * `raw`: a body as it is, instead of JSON; `keepalive`: it goes on when the page is left; `quiet`: where the guest is signed out, nobody
 * asks them to sign in. @throws Problem
 */
export async function request(method, path, options = {}) {
  const { body, raw, signal, keepalive = false, quiet = false, headers: more } = options;
  const { token } = identity;
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
  if (response.status === 401 && !quiet && (await signInAgain(token, method))) return request(method, path, { ...options, quiet: true });
  const problem = await response.json().catch(() => ({ title: `The server answered ${response.status}`, status: response.status }));
  throw new Problem({ ...problem, retry_after: Number(response.headers.get("Retry-After") ?? 0) });
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
  me: () => json("GET", "/v1/me", { quiet: true }),
  /** How the server's parts are; null where it doesn't tell. */
  ready: () => json("GET", "/readyz").catch(() => null),
  /** Whether the server answers: a network that has gone quiet never says no. */
  alive: () => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), ALIVE_MS);
    return fetch(new URL("healthz", ROOT), { cache: "no-store", signal: late.signal })
      .then(
        ({ ok }) => ok,
        () => false,
      )
      .finally(() => clearTimeout(timer));
  },
  sessions: (params) => json("GET", `/v1/sessions${query(params)}`),
  thread: (session) => json("GET", `/v1/sessions/${id(session)}/thread`),
  rename: (session, title) => json("PATCH", `/v1/sessions/${id(session)}`, { body: { title } }),
  remove: (session) => json("DELETE", `/v1/sessions/${id(session)}`),
  restore: (session) => json("POST", `/v1/sessions/${id(session)}/restore`),
  flush: (session) => json("POST", `/v1/sessions/${id(session)}/flush?timeout_ms=10000`),
  memories: (params) => json("GET", `/v1/memories${query(params)}`),
  edit: (memory, text) => json("PATCH", `/v1/memories/${id(memory)}`, { body: { text } }),
  forget: (memory) => json("DELETE", `/v1/memories/${id(memory)}`),
  approve: (memory) => json("POST", `/v1/memories/${id(memory)}/approve`),
  reject: (memory) => json("POST", `/v1/memories/${id(memory)}/reject`),
  why: (memory) => json("GET", `/v1/memories/${id(memory)}/why`),
  exportAll: async () => (await request("GET", "/v1/me/export")).blob(),
};
