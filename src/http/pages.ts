import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { AppError } from "../platform/errors.js";
import { loadedOnce } from "../platform/loaded-later.js";
import type { HttpEnv } from "./http-env.js";
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
export async function loadPageAssets(name: keyof typeof FOLDERS, basePath: string): Promise<PageAssets> {
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
export function addPage(routes: Hono<HttpEnv>, path: string, files: string, load: () => Promise<PageAssets>, policy?: string): void {
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
