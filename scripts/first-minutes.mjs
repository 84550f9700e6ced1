/**
 * How long it takes from a bare directory to a second session that knows what the first was told, as whoever tries Maitred has it: the
 * packages as they would be published, all else from the registry, nothing in npm's cache. Ends with 1 where it isn't known, or takes
 * longer than five minutes.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MOST_SECONDS = 300;
const root = join(import.meta.dirname, "..");
const dir = mkdtempSync(join(tmpdir(), "maitred-first-minutes-"));
const env = { ...process.env, npm_config_cache: join(dir, "cache"), npm_config_loglevel: "error" };
const run = (cwd, ...argv) => execFileSync(argv[0], argv.slice(1), { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

try {
  const npm = ["npm", "pack", "--json", "--ignore-scripts", "--workspaces", "--include-workspace-root", "--pack-destination", dir];
  run(root, process.execPath, join(root, "scripts", "build.mjs"));
  const packed = JSON.parse(run(root, ...npm)).map(({ filename }) => join(dir, filename));
  const bare = join(dir, "bare");
  mkdirSync(bare);
  const began = performance.now();
  const told = (what) => console.log(`${((performance.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${what}`);
  run(bare, "npm", "exec", "--yes", ...packed.map((tarball) => `--package=${tarball}`), "--", "maitred", "init", "spa", "--yes");
  told("maitred init");
  const spa = join(bare, "spa");
  run(spa, "npm", "install", "--no-audit", "--no-fund", ...packed);
  told("npm install");
  run(spa, "npx", "maitred", "chat", "-m", "I am allergic to nuts, by the way.");
  told("a first session");
  const { memory } = JSON.parse(run(spa, "npx", "maitred", "--json", "chat", "-m", "Which treatments do you have?"));
  told(`a second one, told: ${memory.recalled.map(({ text }) => text).join(", ")}`);
  const isKnown = memory.recalled.some(({ need }) => need === "no_nuts");
  process.exitCode = isKnown && performance.now() - began < MOST_SECONDS * 1_000 ? 0 : 1;
} finally {
  rmSync(dir, { recursive: true, force: true });
}
