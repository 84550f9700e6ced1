import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InstalledPackage } from "../packaging/install.js";
import { byWords } from "../support/by-words.js";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A storage directory with a command line over it. */
export interface Desk {
  readonly dir: string;
  /** Runs `maitred …` as a process with nobody looking: all its streams are pipes. */
  run(argv: readonly string[], more?: { readonly stdin?: string; readonly env?: Readonly<Record<string, string>> }): Promise<Ended>;
  /** With `--json`: the documents that it wrote, one a line; its exit code must be `code` and stderr empty. */
  json<T>(argv: readonly string[], more?: { readonly code?: number; readonly env?: Readonly<Record<string, string>> }): Promise<T[]>;
  remove(): Promise<void>;
}

/** `dist/cli.js` of an installed package. Nothing of this process's environment gets in but PATH. */
export async function openDesk(installed: InstalledPackage): Promise<Desk> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-desk-"));
  const run: Desk["run"] = (argv, { stdin = "", env = {} } = {}) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(installed.home, "dist", "cli.js"), ...argv], {
        cwd: installed.project,
        env: byWords({
          PATH: process.env.PATH,
          MEMORY_STORAGE_DIR: join(dir, "storage"),
          RECALL_DEADLINE_MS: "5000",
          FORCE_COLOR: "1",
          ...env,
        }),
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      child.stdin.end(stdin);
      child.once("close", (code) => resolve({ code, stdout, stderr }));
    });
  return {
    dir,
    run,
    json: async <T>(argv: readonly string[], more: { readonly code?: number; readonly env?: Readonly<Record<string, string>> } = {}) => {
      const { code, stdout, stderr } = await run(["--json", ...argv], more.env === undefined ? {} : { env: more.env });
      if (code !== (more.code ?? 0) || stderr !== "") throw new Error(`maitred ${argv.join(" ")} ended with ${code}\n${stdout}\n${stderr}`);
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as T);
    },
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
