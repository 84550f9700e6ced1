import { spawn } from "node:child_process";
import { copyFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import type { ChildEvent, Job } from "./job.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CHILD = fileURLToPath(new URL("./child.ts", import.meta.url));
const THREAD = fileURLToPath(new URL("../../src/vectors/local-thread.ts", import.meta.url));

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

/** Bundled packages may ask for Node's own modules, and for nothing else: what isn't bundled isn't there. */
const REQUIRE = `import { createRequire as $createRequire, isBuiltin as $isBuiltin } from "node:module";
const $require = $createRequire(import.meta.url);
const require = (id) => { if (!$isBuiltin(id)) throw new Error("Not bundled: " + id); return $require(id); };`;

/**
 * The child and all that it stands on in a few files, from the sources as they are now: a start costs half of what it costs from
 * compiled files, and a third of what a loader needs. Returns the file to run.
 */
export async function bundleChild(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  await copyFile(join(ROOT, "package.json"), join(dir, "package.json"));
  await build({
    absWorkingDir: ROOT,
    entryPoints: [CHILD, THREAD],
    outdir: join(dir, "bundle"),
    entryNames: "[name]",
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    plugins: [outside],
    banner: { js: REQUIRE },
    logLevel: "error",
  });
  return join(dir, "bundle", "child.js");
}

export interface ChildEnd {
  readonly killed: boolean;
  readonly events: readonly ChildEvent[];
}

/**
 * Runs a child to its end. `onEvent` may kill it. Rejects when it ended by anything but a kill or its own good end.
 */
export async function runChild(
  program: string,
  job: Job,
  onEvent: (event: ChildEvent, kill: () => void) => void = () => {},
): Promise<ChildEnd> {
  const child = spawn(process.execPath, [program, JSON.stringify(job)], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
  let complaints = "";
  child.stderr.on("data", (chunk) => {
    complaints += String(chunk);
  });
  const events: ChildEvent[] = [];
  for await (const line of createInterface(child.stdout)) {
    const event = JSON.parse(line) as ChildEvent;
    events.push(event);
    onEvent(event, () => child.kill("SIGKILL"));
  }
  const { code, signal } = await ended;
  if (signal !== "SIGKILL" && code !== 0) throw new Error(`The child ended with ${signal ?? code}: ${complaints}`);
  return { killed: signal === "SIGKILL", events };
}
