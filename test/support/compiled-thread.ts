import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "vitest/config";
import { bundle } from "./bundle.js";

const THREAD = fileURLToPath(new URL("../../src/vectors/local/local-thread.ts", import.meta.url));
const STARTER = "/vectors/local/local-worker.ts";
const STARTS_WITH_LOADER = "new Worker(start, { workerData, resourceLimits, eval: true })";

/**
 * LocalQdrant's thread runs a compiled file in tests, as it does in dist/, made from the sources when the run begins. From the sources
 * themselves each of its hundreds of starts would bring a loader of its own, which takes three times as long.
 */
export function compiledThread(temporary: string): Plugin {
  const dir = join(temporary, "compiled-thread");
  const compiled = async () => {
    await bundle([THREAD], dir);
    return pathToFileURL(join(dir, "local-thread.js")).href;
  };
  let url: Promise<string> | undefined;
  return {
    name: "compiled-thread",
    enforce: "pre",
    // What names a file of this run is of this run alone.
    configureVitest: ({ experimental_defineCacheKeyGenerator: keep }) => keep(({ id }) => (id.endsWith(STARTER) ? false : undefined)),
    async transform(code, id) {
      if (!id.endsWith(STARTER)) return null;
      if (!code.includes(STARTS_WITH_LOADER)) throw new Error(`${id} starts its thread in another way now: see compiled-thread.ts.`);
      url ??= compiled();
      return code.replace(STARTS_WITH_LOADER, `new Worker(new URL(${JSON.stringify(await url)}), { workerData, resourceLimits })`);
    },
  };
}
