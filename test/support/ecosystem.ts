import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const ROOT = new URL("../ecosystem/package.json", import.meta.url);

/** True once `npm ci --prefix test/ecosystem --ignore-scripts` has run: the frameworks are kept apart from the product's own packages. */
export const ecosystemInstalled = existsSync(new URL("./node_modules", ROOT));

/** The real package, from the ecosystem's own folder. */
export async function loadFromEcosystem(name: string): Promise<unknown> {
  return import(pathToFileURL(createRequire(ROOT).resolve(name)).href);
}
