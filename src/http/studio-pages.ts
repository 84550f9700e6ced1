import { createHmac, timingSafeEqual } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { deleteCookie, setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { type Credentials, isOwnOrigin, sharedSecret } from "./authenticator.js";
import { jsonBody } from "./body.js";
import type { HttpEnv } from "./http-env.js";
import type { OperatorConfig, OperatorSession } from "./operator-door.js";
import { addPage, loadPageAssets } from "./pages.js";
import { invalidRequest } from "./problem.js";
import { ownFilesAlone } from "./security-headers.js";

export const STUDIO_SESSION_PATH = "/studio/session";

/** Its own files and this server's answers; markup that is made of text has no way in at all. */
const POLICY = ownFilesAlone("'self'", "require-trusted-types-for 'script'", "trusted-types 'none'");

const signInSchema = z.strictObject({ token: z.string().min(1).max(1024) });

/** The view for those who run the server: its page, which shows nothing by itself, and sessions for who has the operator's token. */
export function studioRoutes(door: StudioDoor, basePath: string): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const cookie = (c: Context<HttpEnv>) => ({ path: basePath === "" ? "/" : basePath, secure: isSecure(c) });

  routes.use("/studio/*", compress());
  routes.use(STUDIO_SESSION_PATH, jsonBody(new Set(), new Map()));
  routes.post(STUDIO_SESSION_PATH, (c) => {
    // A browser names the page; nobody is to be signed in by another one.
    if (c.req.header("Origin") !== undefined) requireOwnOrigin(c.req);
    const given = signInSchema.safeParse(c.get("body"));
    if (!given.success) throw invalidRequest(given.error, "json", c.req.path);
    const value = door.signIn(given.data.token);
    setCookie(c, STUDIO_COOKIE, value, { ...cookie(c), httpOnly: true, sameSite: "Strict", maxAge: STUDIO_SESSION_SECONDS });
    return c.body(null, 204, { "Cache-Control": "no-store" });
  });
  routes.delete(STUDIO_SESSION_PATH, (c) => {
    requireOwnOrigin(c.req);
    deleteCookie(c, STUDIO_COOKIE, cookie(c));
    return c.body(null, 204, { "Cache-Control": "no-store" });
  });
  addPage(routes, "/studio", "/studio", () => loadPageAssets("studio", basePath), POLICY);
  return routes;
}

/** As the browser reached it: TLS may end in front of the server. */
function isSecure(c: Context<HttpEnv>): boolean {
  const [forwarded] = (c.req.header("X-Forwarded-Proto") ?? "").split(",");
  return [c.req.header("Origin") ?? "", `${forwarded?.trim()}:`, c.req.url].some((address) => address.startsWith("https:"));
}

const STUDIO_COOKIE = "maitred_studio";
/** How long a session of Studio lasts, in seconds. */
export const STUDIO_SESSION_SECONDS = 8 * 60 * 60;

const VALUE = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/;

/**
 * Sessions of Studio that nobody has to keep: when one ends, and an HMAC of that under the operator's token. All replicas with the token
 * know them; another token ends them all.
 */
interface StudioDoor {
  /** For the operator's token the value of a new session's cookie, good for {@link STUDIO_SESSION_SECONDS}. @throws UNAUTHENTICATED */
  signIn(token: string): string;
  /**
   * Whether a request has the cookie of a session. Cookies travel with requests that other pages make: what may change something has to
   * name this server's own page. @throws FORBIDDEN_ORIGIN
   */
  readonly admits: OperatorSession;
}

/** Null without OPERATOR_TOKEN. */
export function studioDoor({ OPERATOR_TOKEN }: OperatorConfig, clock: Clock): StudioDoor | null {
  if (OPERATOR_TOKEN === undefined) return null;
  const token = sharedSecret(OPERATOR_TOKEN);
  const sessions = sessionsUnder(OPERATOR_TOKEN, clock);
  return {
    signIn: (given) => {
      if (token.heldBy(`Bearer ${given}`)) return sessions.begin();
      throw new AppError("UNAUTHENTICATED", { detail: "That is not the operator's token.", hint: "Give OPERATOR_TOKEN as it is set." });
    },
    admits: (request) => {
      const cookies = request.header("Cookie");
      // Who sends other credentials is judged by those.
      if (cookies === undefined || request.header("Authorization") !== undefined) return false;
      if (!sessions.holds(parse(cookies, STUDIO_COOKIE)[STUDIO_COOKIE])) return false;
      if (request.method !== "GET" && request.method !== "HEAD") requireOwnOrigin(request);
      return true;
    },
  };
}

/** `holds`: whether it was given out under this token, and has not ended; it takes as long for a wrong one as for a right one. */
function sessionsUnder(token: string, clock: Clock) {
  const now = () => Math.floor(clock.now().getTime() / 1000);
  const macOf = (ends: string) => createHmac("sha256", token).update(`maitred studio session, until ${ends}`).digest();
  return {
    begin: (): string => {
      const ends = String(now() + STUDIO_SESSION_SECONDS);
      return `${ends}.${macOf(ends).toString("base64url")}`;
    },
    holds: (value: string | undefined): boolean => {
      const [, ends, mac] = VALUE.exec(value ?? "") ?? [];
      if (ends === undefined || mac === undefined) return false;
      return timingSafeEqual(Buffer.from(mac, "base64url"), macOf(ends)) && Number(ends) > now();
    },
  };
}

/** @throws FORBIDDEN_ORIGIN */
function requireOwnOrigin(request: Pick<Credentials, "header" | "url">): void {
  const origin = request.header("Origin");
  if (origin !== undefined && isOwnOrigin(origin, request)) return;
  throw new AppError("FORBIDDEN_ORIGIN", { detail: "This has to come from the server's own page." });
}
