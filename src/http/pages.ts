import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "@hono/zod-openapi";
import { type Context, Hono } from "hono";
import { compress } from "hono/compress";
import { deleteCookie, setCookie } from "hono/cookie";
import { parse } from "hono/utils/cookie";
import type { Clock } from "../platform/clock.js";
import { AppError } from "../platform/errors.js";
import { loadedOnce } from "../platform/loaded-later.js";
import { type Credentials, isOwnOrigin, sharedSecret } from "./authenticator.js";
import { jsonBody } from "./body.js";
import type { HttpEnv } from "./http-env.js";
import type { OperatorConfig, OperatorSession } from "./operator-door.js";
import { invalidRequest } from "./problem.js";
import { ownFilesAlone } from "./security-headers.js";

interface Asset {
  readonly body: string;
  readonly type: string;
}

/** The page and the files that it loads, all under one address that changes with any of them. */
interface PageAssets {
  readonly page: string;
  /** By name. */
  readonly files: ReadonlyMap<string, Asset>;
  /** First part of their address: a hash of them all. */
  readonly version: string;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLES = "text/css; charset=utf-8";
const FOLDERS = { page: "web", studio: "studio" } as const;
const dirOf = (folder: string) => fileURLToPath(new URL(`../${folder}`, import.meta.url));
/** The guests' page, and what other pages share with it. */
const WEB_DIR = dirOf(FOLDERS.page);
/** Makes the bundles where nothing is built: it is not in the package. */
const BUNDLER = new URL("../../scripts/browser-bundles.mjs", import.meta.url);
/** What templates hold where the files' version, and the base path, go. */
const VERSION_MARK = /\{\{version\}\}/g;
const BASE_MARK = /\{\{base\}\}/g;

/** Of a file whose address is its own for ever: a year. */
const FOR_EVER = "public, max-age=31536000, immutable";

/** A page for browsers, its links below the base path: its script and styles are one bundle each. */
async function loadPageAssets(name: keyof typeof FOLDERS, basePath: string): Promise<PageAssets> {
  const dir = dirOf(FOLDERS[name]);
  const [made, icon, template] = await Promise.all([
    bundleOf(FOLDERS[name]),
    readFile(join(WEB_DIR, "icon.svg"), "utf8"),
    readFile(join(dir, "index.html"), "utf8"),
  ]);
  const files = new Map([
    [`${name}.js`, { type: SCRIPT, body: made[`${name}.js`] ?? "" }],
    [`${name}.css`, { type: STYLES, body: made[`${name}.css`] ?? "" }],
    ["icon.svg", { type: "image/svg+xml", body: icon }],
  ]);
  return pageOf(template, files, basePath);
}

type Bundle = Readonly<Record<string, string>>;
/** In this process, by folder. */
const bundles = new Map<string, () => Promise<Bundle>>();

function bundleOf(folder: string): Promise<Bundle> {
  const load = bundles.get(folder) ?? loadedOnce(() => readBundle(folder));
  bundles.set(folder, load);
  return load();
}

async function readBundle(folder: string): Promise<Bundle> {
  const built = (await readdir(dirOf(folder))).filter((name) => /^(page|studio)\.(js|css)$/.test(name));
  if (built.some((name) => name.endsWith(".js")))
    return Object.fromEntries(await Promise.all(built.map(async (name) => [name, await readFile(join(dirOf(folder), name), "utf8")])));
  const { bundle } = (await import(BUNDLER.href)) as { readonly bundle: (folder: string) => Promise<{ readonly files: Bundle }> };
  return (await bundle(folder)).files;
}

/** A page by its template, whose links name the version of its files and stand below the base path. */
function pageOf(template: string, files: ReadonlyMap<string, Asset>, basePath: string): PageAssets {
  const hash = createHash("sha256");
  for (const [name, { body }] of files) hash.update(name).update(body);
  const version = hash.digest("hex").slice(0, 16);
  return { page: template.replace(VERSION_MARK, version).replace(BASE_MARK, basePath), files, version };
}

/** A page at a path, and below `files` what it loads, under addresses that are theirs for ever. `policy`: instead of that of all pages. */
function addPage(routes: Hono<HttpEnv>, path: string, files: string, load: () => Promise<PageAssets>, policy?: string): void {
  const loaded = loadedOnce(load);
  routes.get(path, async (c) => {
    const { page } = await loaded();
    const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" };
    return c.body(page, 200, policy === undefined ? headers : { ...headers, "Content-Security-Policy": policy });
  });
  routes.get(`${files}/:version/:name`, async (c) => {
    const { files: named, version } = await loaded();
    const asset = c.req.param("version") === version ? named.get(c.req.param("name") ?? "") : undefined;
    if (!asset) throw new AppError("NOT_FOUND");
    return c.body(asset.body, 200, { "Content-Type": asset.type, "Cache-Control": FOR_EVER });
  });
}

const OWN = { "docs.js": SCRIPT, "icon.svg": "image/svg+xml" };
/** Of swagger-ui-dist: the build puts them beside the page; where nothing is built they are in the package. */
const SWAGGER_UI = { "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLES };

/** The style sheet has its icons in itself. */
const DOCS_POLICY = ownFilesAlone("'self' data:");

function swaggerUiDir(): string {
  const built = join(WEB_DIR, "swagger-ui");
  return existsSync(built) ? built : dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
}

async function loadDocs(basePath: string): Promise<PageAssets> {
  const read = (dir: string, files: Readonly<Record<string, string>>) =>
    Object.entries(files).map(async ([name, type]) => [name, { type, body: await readFile(join(dir, name), "utf8") }] as const);
  const files = new Map(await Promise.all([...read(WEB_DIR, OWN), ...read(swaggerUiDir(), SWAGGER_UI)]));
  return pageOf(await readFile(join(WEB_DIR, "docs.html"), "utf8"), files, basePath);
}

/** The guests' page at `/`, and, at `/docs`, the API's document for people: Swagger UI over `/openapi.json`, without the network. */
export function pageRoutes(basePath: string): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  routes.use("/assets/*", compress());
  addPage(routes, "/", "/assets", () => loadPageAssets("page", basePath));
  addPage(routes, "/docs", "/docs", () => loadDocs(basePath), DOCS_POLICY);
  return routes;
}

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

const STUDIO_COOKIE = "maitred_studio";
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
