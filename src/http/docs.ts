import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Hono } from "hono";
import { AppError } from "../platform/errors.js";
import { FOR_EVER, loadedOnce, type PageAssets, pageOf, SCRIPT, STYLES, WEB_DIR } from "./assets.js";
import type { HttpEnv } from "./http-env.js";

const OWN = { "docs.js": SCRIPT, "icon.svg": "image/svg+xml" };
/** Of swagger-ui-dist: the build puts them beside the page; where nothing is built they are in the package. */
const SWAGGER_UI = { "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLES };

/** Its own files and this server's answers, and nothing else; the style sheet has its icons in itself. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

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

/** The document for people, at `/docs`: Swagger UI over `/openapi.json`, without the network. Read when it is first asked for. */
export function docsRoutes(basePath: string): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const loaded = loadedOnce(() => loadDocs(basePath));
  routes.get("/docs", async (c) => {
    const { page } = await loaded();
    const headers = { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache", "Content-Security-Policy": POLICY };
    return c.body(page, 200, headers);
  });
  routes.get("/docs/:version/:name", async (c) => {
    const { files, version } = await loaded();
    const asset = c.req.param("version") === version ? files.get(c.req.param("name")) : undefined;
    if (!asset) throw new AppError("NOT_FOUND");
    return c.body(asset.body, 200, { "Content-Type": asset.type, "Cache-Control": FOR_EVER });
  });
  return routes;
}
