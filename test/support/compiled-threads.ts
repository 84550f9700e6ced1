import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "vitest/config";
import { bundle, THREADS } from "./bundle.js";

const STARTER = "/source-thread.ts";
const STARTS = "export function threadFromSource(entry: URL): string {";

/**
 * Threads run compiled files in tests, as they do in dist/, made from the sources when the run begins. From the sources themselves each
 * of their hundreds of starts would bring a loader of its own, which takes far longer than what most of them are for.
 */
export function compiledThreads(temporary: string): Plugin {
  const dir = join(temporary, "compiled-threads");
  let compiled: Promise<Record<string, string>> | undefined;
  return {
    name: "compiled-threads",
    enforce: "pre",
    // What names a file of this run is of this run alone.
    configureVitest: ({ experimental_defineCacheKeyGenerator: keep }) => keep(({ id }) => (id.endsWith(STARTER) ? false : undefined)),
    async transform(code, id) {
      if (!id.endsWith(STARTER)) return null;
      if (!code.includes(STARTS)) throw new Error(`${id} starts threads in another way now: see compiled-threads.ts.`);
      compiled ??= bundle([], dir).then(() => Object.fromEntries(THREADS.map((thread) => [`${thread}.ts`, urlOf(dir, thread)])));
      const compiledOf = `Object.entries(${JSON.stringify(await compiled)}).find(([source]) => entry.href.endsWith(source))?.[1]`;
      return code.replace(STARTS, `${STARTS}\n  const compiled = ${compiledOf};\n  if (compiled) return \`import("\${compiled}")\`;`);
    },
  };
}

function urlOf(dir: string, thread: string): string {
  return pathToFileURL(join(dir, `${thread.split("/").at(-1)}.js`)).href;
}
