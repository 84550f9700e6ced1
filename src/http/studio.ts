import { z } from "@hono/zod-openapi";
import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { deleteCookie, setCookie } from "hono/cookie";
import { jsonBody } from "./body.js";
import type { HttpEnv } from "./http-env.js";
import { addPage, loadPageAssets } from "./pages.js";
import { requireOwnOrigin, STUDIO_COOKIE, STUDIO_SESSION_SECONDS, type StudioDoor } from "./studio-session.js";
import { invalidRequest } from "./validation.js";

export const STUDIO_SESSION_PATH = "/studio/session";

/** Its own files and this server's answers; markup that is made of text has no way in at all. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const signInSchema = z.strictObject({ token: z.string().min(1).max(1024) });

/** The view for those who run the server: its page, which shows nothing by itself, and sessions for who has the operator's token. */
export function studioRoutes(door: StudioDoor, basePath: string): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const cookie = (c: Context<HttpEnv>) => ({ path: basePath === "" ? "/" : basePath, secure: isSecure(c) });

  routes.use("/studio/*", compress());
  routes.use(STUDIO_SESSION_PATH, jsonBody(new Set(), new Map()));
  routes.post(STUDIO_SESSION_PATH, (c) => {
    // A browser names the page; nobody is to be signed in by another one.
    if (c.req.header("Origin") !== undefined) requireOwnOrigin(requestOf(c));
    const given = signInSchema.safeParse(c.get("body"));
    if (!given.success) throw invalidRequest(given.error, "json", c.req.path);
    const value = door.signIn(given.data.token);
    setCookie(c, STUDIO_COOKIE, value, { ...cookie(c), httpOnly: true, sameSite: "Strict", maxAge: STUDIO_SESSION_SECONDS });
    return c.body(null, 204, { "Cache-Control": "no-store" });
  });
  routes.delete(STUDIO_SESSION_PATH, (c) => {
    requireOwnOrigin(requestOf(c));
    deleteCookie(c, STUDIO_COOKIE, cookie(c));
    return c.body(null, 204, { "Cache-Control": "no-store" });
  });
  addPage(routes, "/studio", "/studio", () => loadPageAssets("studio", basePath), POLICY);
  return routes;
}

function requestOf(c: Context<HttpEnv>) {
  return { url: c.req.url, header: (name: string) => c.req.header(name) };
}

/** As the browser reached it: TLS may end in front of the server. */
function isSecure(c: Context<HttpEnv>): boolean {
  const [forwarded] = (c.req.header("X-Forwarded-Proto") ?? "").split(",");
  return [c.req.header("Origin") ?? "", `${forwarded?.trim()}:`, c.req.url].some((address) => address.startsWith("https:"));
}
