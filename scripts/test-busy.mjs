// Runs `npm test` beside eight processes that never rest, three times or as often as the first argument says, and says what failed.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BUSY = 8;
const [times = "3", ...more] = process.argv.slice(2);
const dir = mkdtempSync(join(tmpdir(), "maitred-busy-"));
const busy = Array.from({ length: BUSY }, () => spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }));
const end = () => {
  for (const process of busy) process.kill("SIGKILL");
  rmSync(dir, { recursive: true, force: true });
};
process.once("exit", end);
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));

const failed = new Map();
for (let run = 1; run <= Number(times); run++) {
  const results = join(dir, `${run}.json`);
  const args = ["run", "test", ...(more.length > 0 ? ["--", ...more] : [])];
  const { status } = spawnSync("npm", args, { stdio: "inherit", env: { ...process.env, TEST_RESULTS: results } });
  for (const name of failuresIn(results, status)) failed.set(name, [...(failed.get(name) ?? []), run]);
}
console.log(`\n${times} runs beside ${BUSY} busy processes: ${failed.size === 0 ? "nothing failed" : `${failed.size} failed`}`);
for (const [name, runs] of failed) console.log(` in ${runs.join(", ")}: ${name}`);
process.exitCode = failed.size === 0 ? 0 : 1;

/** Of a run that came to no end there are none to be read. */
function failuresIn(results, status) {
  if (status === 0) return [];
  try {
    const { failed: names } = JSON.parse(readFileSync(results, "utf8"));
    return names.length > 0 ? names : [`npm test ended with ${status}`];
  } catch {
    return [`npm test ended with ${status}`];
  }
}
