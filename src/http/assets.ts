import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
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
const FOLDERS = { page: "web", studio: "studio" } as const;
const dirOf = (folder: string) => fileURLToPath(new URL(`../${folder}`, import.meta.url));
/** The guests' page, and what other pages share with it. */
export const WEB_DIR = dirOf(FOLDERS.page);
/** Makes the bundles where nothing is built: it is not in the package. */
const BUNDLER = new URL("../../scripts/browser-bundles.mjs", import.meta.url);
/** What templates hold where the files' version, and the base path, go. */
const VERSION_MARK = /\{\{version\}\}/g;
const BASE_MARK = /\{\{base\}\}/g;

/** Of a file whose address is its own for ever: a year. */
export const FOR_EVER = "public, max-age=31536000, immutable";

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
