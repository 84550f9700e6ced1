import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/**
 * What a `Worker` evaluates to run a TypeScript file (tests, development): a thread needs a loader of its own, which runs before its
 * first module.
 */
export function threadFromSource(entry: URL): string {
  const required = createRequire(import.meta.url).resolve("tsx/esm/api");
  // What is found is the twin for require.
  const loader = pathToFileURL(required.replace(/\.cjs$/, ".mjs")).href;
  return `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
}
