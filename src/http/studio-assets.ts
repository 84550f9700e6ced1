import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type PageAssets, pageOf, SCRIPT, STYLES, WEB_DIR } from "./assets.js";

/** Its page, and, where the project has been built, its script and its styles. */
const STUDIO_DIR = fileURLToPath(new URL("../studio", import.meta.url));
/** Makes them where nothing is built: it is not in the package. */
const BUNDLER = new URL("../../scripts/studio-bundle.mjs", import.meta.url);

interface Bundle {
  readonly "studio.js": string;
  readonly "studio.css": string;
}

async function bundle(): Promise<Bundle> {
  const read = (name: string) => readFile(join(STUDIO_DIR, name), "utf8");
  if (existsSync(join(STUDIO_DIR, "studio.js"))) return { "studio.js": await read("studio.js"), "studio.css": await read("studio.css") };
  const { bundleStudio } = (await import(BUNDLER.href)) as { readonly bundleStudio: () => Promise<{ files: Bundle }> };
  return (await bundleStudio()).files;
}

/** Studio's page and its files; none of them is the chat page's. */
export async function loadStudioAssets(basePath: string): Promise<PageAssets> {
  const [made, icon, template] = await Promise.all([
    bundle(),
    readFile(join(WEB_DIR, "icon.svg"), "utf8"),
    readFile(join(STUDIO_DIR, "index.html"), "utf8"),
  ]);
  const files = new Map([
    ["studio.js", { type: SCRIPT, body: made["studio.js"] }],
    ["studio.css", { type: STYLES, body: made["studio.css"] }],
    ["icon.svg", { type: "image/svg+xml", body: icon }],
  ]);
  return pageOf(template, files, basePath);
}
