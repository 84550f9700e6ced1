import { execFile } from "node:child_process";
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

const packedSchema = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);
const packageSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()), bin: z.record(z.string(), z.string()) });

export interface InstalledPackage {
  /** A project that has nothing but the package and what the package says that it depends on: no optional peer, no tool of this repository. */
  readonly project: string;
  /** `node_modules/maitred` of the project. */
  readonly home: string;
  /** What the tarball holds. */
  readonly files: readonly string[];
  /** Makes another package of this repository's available to the project: a compiler, types. `ecosystem`: one of test/ecosystem. */
  link(name: string, from?: "ecosystem"): Promise<void>;
  remove(): Promise<void>;
}

interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

/** Builds the sources as they are, and packs them as `npm publish` would. Needs no network. */
async function pack(dir: string): Promise<Packed> {
  const source = join(dir, "source");
  for (const each of SOURCES) await cp(join(ROOT, each), join(source, each), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(source, "node_modules"), "dir");
  await run(process.execPath, [join(source, "scripts", "build.mjs")], { cwd: source });
  const npm = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", dir];
  const { stdout } = await run("npm", npm, { cwd: source, env: { ...process.env, npm_config_loglevel: "silent" } });
  const [{ filename, files }] = packedSchema.parse(JSON.parse(stdout));
  return { tarball: join(dir, filename), files: files.map(({ path }) => path) };
}

/** The package of this run of the tests, whose temporary folder is its own: packed by the first file that asks, for the others too. */
async function packedOnce(): Promise<Packed> {
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
  const outcome = await vi.waitFor(async () => JSON.parse(await readFile(told, "utf8")) as Packed | { readonly error: string }, 120_000);
  if ("error" in outcome) throw new Error(outcome.error);
  return outcome;
}

/** Unpacks the package into an empty project. */
export async function installPackage(): Promise<InstalledPackage> {
  const { tarball, files } = await packedOnce();
  const dir = await mkdtemp(join(tmpdir(), "maitred-package-"));
  const project = join(dir, "project");
  const home = join(project, "node_modules", "maitred");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", tarball, "--strip-components=1", "-C", home]);

  const link = async (name: string, from?: "ecosystem") => {
    const to = join(project, "node_modules", name);
    await mkdir(dirname(to), { recursive: true });
    await symlink(join(ROOT, ...(from === "ecosystem" ? ["test", "ecosystem"] : []), "node_modules", name), to, "dir");
  };
  const { dependencies } = packageSchema.parse(JSON.parse(await readFile(join(home, "package.json"), "utf8")));
  for (const name of Object.keys(dependencies)) await link(name);
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "a-project", private: true, type: "module" }));
  return { project, home, files, link, remove: () => rm(dir, { recursive: true, force: true }) };
}
