import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { vi } from "vitest";
import { z } from "zod";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const SOURCES = [
  "src",
  "packages",
  "scripts",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "docs",
  "examples",
  "memory_storage/README.md",
];

const packedSchema = z.array(
  z.object({ name: z.string(), filename: z.string(), size: z.number(), files: z.array(z.object({ path: z.string() })) }),
);
const packageSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()).default({}) });

/** What a test that installs the packages waits for: they are compiled and packed once, beside other tests. */
export const PACKED_WITHIN_MS = 300_000;

/** The package without which the others are nothing. */
const CORE = "maitred";

export interface InstalledPackage {
  /** A project that has nothing but the packages and what they say that they depend on: no peer of others, no tool of this repository. */
  readonly project: string;
  /** `node_modules/maitred` of the project. */
  readonly home: string;
  /** What the core's tarball holds. */
  readonly files: readonly string[];
  /** Its bytes. */
  readonly size: number;
  /** What those of the other packages hold, by name. */
  readonly others: Readonly<Record<string, readonly string[]>>;
  /** Makes another package of this repository's available to the project: a compiler, types. `ecosystem`: one of test/ecosystem. */
  link(name: string, from?: "ecosystem"): Promise<void>;
  remove(): Promise<void>;
}

interface Packed {
  readonly name: string;
  readonly tarball: string;
  readonly size: number;
  readonly files: readonly string[];
}

/** Builds the sources as they are, and packs each package as `npm publish` would. Needs no network. */
async function pack(dir: string): Promise<readonly Packed[]> {
  const source = join(dir, "source");
  for (const each of SOURCES)
    await cp(join(ROOT, each), join(source, each), { recursive: true, filter: (path) => !/\/(dist|node_modules)$/.test(path) });
  await symlink(join(ROOT, "node_modules"), join(source, "node_modules"), "dir");
  await run(process.execPath, [join(source, "scripts", "build.mjs")], { cwd: source });
  const npm = ["pack", "--json", "--ignore-scripts", "--offline", "--workspaces", "--include-workspace-root", "--pack-destination", dir];
  const { stdout } = await run("npm", npm, { cwd: source, env: { ...process.env, npm_config_loglevel: "silent" } });
  return packedSchema
    .parse(JSON.parse(stdout))
    .map(({ name, filename, size, files }) => ({ name, tarball: join(dir, filename), size, files: files.map(({ path }) => path) }));
}

/** The packages of this run of the tests, whose temporary folder is its own: packed by the first file that asks, for the others too. */
async function packedOnce(): Promise<readonly Packed[]> {
  const dir = join(tmpdir(), "maitred-packed");
  const told = join(dir, "packed.json");
  const first = await mkdir(dir).then(
    () => true,
    () => false,
  );
  if (first) {
    const outcome = await pack(dir).catch((error: unknown) => ({ error: String(error) }));
    await writeFile(`${told}.part`, JSON.stringify(outcome));
    await rename(`${told}.part`, told);
  }
  const outcome = await vi.waitFor(
    async () => JSON.parse(await readFile(told, "utf8")) as readonly Packed[] | { readonly error: string },
    PACKED_WITHIN_MS,
  );
  if ("error" in outcome) throw new Error(outcome.error);
  return outcome;
}

/** Unpacks the packages into an empty project. `alone`: the core without the others. */
export async function installPackage({ alone = false } = {}): Promise<InstalledPackage> {
  const packed = await packedOnce();
  const core = packed.find(({ name }) => name === CORE);
  if (core === undefined) throw new Error(`${CORE} is not among what was packed.`);
  const dir = await mkdtemp(join(tmpdir(), "maitred-package-"));
  const project = join(dir, "project");
  const homeOf = (name: string) => join(project, "node_modules", name);

  const link = async (name: string, from?: "ecosystem") => {
    const to = join(project, "node_modules", name);
    if (existsSync(to)) return;
    await mkdir(dirname(to), { recursive: true });
    await symlink(join(ROOT, ...(from === "ecosystem" ? ["test", "ecosystem"] : []), "node_modules", name), to, "dir");
  };
  for (const { name, tarball } of alone ? [core] : packed) {
    await mkdir(homeOf(name), { recursive: true });
    await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", homeOf(name)]);
    const { dependencies } = packageSchema.parse(JSON.parse(await readFile(join(homeOf(name), "package.json"), "utf8")));
    const others = Object.keys(dependencies).filter((each) => !packed.some((own) => own.name === each));
    for (const dependency of others) await link(dependency);
  }
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "a-project", private: true, type: "module" }));
  const others = Object.fromEntries(packed.filter((each) => each !== core).map(({ name, files }) => [name, files]));
  return {
    project,
    home: homeOf(CORE),
    files: core.files,
    size: core.size,
    others,
    link,
    remove: () => rm(dir, { recursive: true, force: true }),
  };
}
