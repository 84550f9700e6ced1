import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Native code stays where it is; an optional peer that is not installed stays an import that fails when it is made. */
const outside: Plugin = {
  name: "outside",
  setup(builder) {
    const native = pathToFileURL(createRequire(import.meta.url).resolve("better-sqlite3")).href;
    builder.onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
      if (path === "better-sqlite3") return { path: native, external: true };
      if (pluginData === "asked") return undefined;
      const found = await builder.resolve(path, { ...from, pluginData: "asked" });
      return found.errors.length > 0 ? { path, external: true } : found;
    });
  },
};

/** The threads that the product starts, from beside the modules that start them. */
export const THREADS = ["src/vectors/local/local-thread", "src/platform/compaction-thread", "packages/minilm/src/model-thread"] as const;

/** What a source reads beside itself stays there. But the threads, started from beside, are in the bundle. */
const besideTheSources: Plugin = {
  name: "beside-the-sources",
  setup(builder) {
    builder.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      if (path.includes("/node_modules/")) return undefined;
      const source = await readFile(path, "utf8");
      if (source.includes("new Worker(")) return undefined;
      return { contents: source.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)), loader: "ts" };
    });
  },
};

/** Bundled packages may ask for Node's own modules, and for nothing else: what isn't bundled isn't there. */
const REQUIRE = `import { createRequire as $createRequire, isBuiltin as $isBuiltin } from "node:module";
const $require = $createRequire(import.meta.url);
const require = (id) => { if (!$isBuiltin(id)) throw new Error("Not bundled: " + id); return $require(id); };`;

/**
 * TypeScript entries, the threads that they start and all that they stand on in a few files, from the sources as they are now, as
 * `{entry}.js` in `outdir`: a start costs half of what it costs from compiled files, and a third of what a loader needs.
 */
export async function bundle(entries: readonly string[], outdir: string): Promise<void> {
  await build({
    absWorkingDir: ROOT,
    entryPoints: [...entries, ...THREADS.map((thread) => `${thread}.ts`)],
    outdir,
    entryNames: "[name]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [outside, besideTheSources],
    banner: { js: REQUIRE },
    logLevel: "error",
  });
}
