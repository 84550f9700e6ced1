import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const ROOT = new URL("../ecosystem/package.json", import.meta.url);

/** There once `node scripts/install.mjs test/ecosystem` has run: the frameworks are kept apart from the product's own packages. */
export const ECOSYSTEM = new URL("./node_modules", ROOT);

/** The real package, from the ecosystem's own folder. */
export async function loadFromEcosystem(name: string): Promise<unknown> {
  return import(pathToFileURL(createRequire(ROOT).resolve(name)).href);
}
