import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Asset {
  readonly body: string;
  readonly type: string;
}

/** The page and the files that it loads, all under one address that changes with any of them. */
export interface PageAssets {
  readonly page: string;
  /** By name. */
  readonly files: ReadonlyMap<string, Asset>;
  /** First part of their address: a hash of them all. */
  readonly version: string;
}

export const SCRIPT = "text/javascript; charset=utf-8";
export const STYLES = "text/css; charset=utf-8";
/** The page's own files. */
export const WEB_DIR = fileURLToPath(new URL("../web", import.meta.url));
/** By the ending of their names. The document at `/docs` has its own. */
const TYPES: Readonly<Record<string, string>> = { ".js": SCRIPT, ".css": STYLES, ".svg": "image/svg+xml" };
const NOT_OF_THE_PAGE = new Set(["docs.js"]);
/** Browser builds of installed packages: beside what the package's main entry resolves to, wherever npm put it. */
const VENDOR: Readonly<Record<string, { readonly pkg: string; readonly file: string }>> = {
  "marked.js": { pkg: "marked", file: "marked.esm.js" },
  "purify.js": { pkg: "dompurify", file: "purify.es.mjs" },
};
/** What templates hold where the files' version, and the base path, go. */
const VERSION_MARK = /\{\{version\}\}/g;
const BASE_MARK = /\{\{base\}\}/g;

/** Of a file whose address is its own for ever: a year. */
export const FOR_EVER = "public, max-age=31536000, immutable";

/** Reads them once, at start. The page's links stand below the base path. */
export async function loadPageAssets(basePath: string): Promise<PageAssets> {
  const resolve = createRequire(import.meta.url).resolve;
  const own = (await readdir(WEB_DIR)).sort().flatMap((name) => {
    const type = TYPES[extname(name)];
    if (type === undefined || NOT_OF_THE_PAGE.has(name)) return [];
    return [readFile(join(WEB_DIR, name), "utf8").then((body) => [name, { type, body }] as const)];
  });
  const vendor = Object.entries(VENDOR).map(
    async ([name, { pkg, file }]) => [name, { type: SCRIPT, body: await readFile(join(dirname(resolve(pkg)), file), "utf8") }] as const,
  );
  const files = new Map<string, Asset>(await Promise.all([...own, ...vendor]));
  return pageOf(await readFile(join(WEB_DIR, "index.html"), "utf8"), files, basePath);
}

/** A page by its template, whose links name the version of its files and stand below the base path. */
export function pageOf(template: string, files: ReadonlyMap<string, Asset>, basePath: string): PageAssets {
  const hash = createHash("sha256");
  for (const [name, { body }] of files) hash.update(name).update(body);
  const version = hash.digest("hex").slice(0, 16);
  return { page: template.replace(VERSION_MARK, version).replace(BASE_MARK, basePath), files, version };
}

/** What is loaded when it is first asked for, and again after a failure. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
}
