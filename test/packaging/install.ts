import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const SOURCES = ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.build.json", "README.md", "LICENSE", "CHANGELOG.md"];

const packedSchema = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);
const packageSchema = z.looseObject({ dependencies: z.record(z.string(), z.string()), bin: z.record(z.string(), z.string()) });

export interface InstalledPackage {
  /** A project that has nothing but the package and what the package says that it depends on: no optional peer, no tool of this repository. */
  readonly project: string;
  /** `node_modules/maitred` of the project. */
  readonly home: string;
  /** What the tarball holds. */
  readonly files: readonly string[];
  /** Makes another package of this repository's available to the project: a compiler, types. */
  link(name: string): Promise<void>;
  remove(): Promise<void>;
}

/** Builds the sources as they are, packs them as `npm publish` would, and unpacks the tarball into an empty project. Needs no network. */
export async function installPackage(): Promise<InstalledPackage> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-package-"));
  const [source, project] = [join(dir, "source"), join(dir, "project")];
  for (const each of SOURCES) await cp(join(ROOT, each), join(source, each), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(source, "node_modules"), "dir");
  await run(process.execPath, [join(source, "scripts", "build.mjs")], { cwd: source });

  const npm = ["pack", "--json", "--ignore-scripts", "--offline", "--pack-destination", dir];
  const { stdout } = await run("npm", npm, { cwd: source, env: { ...process.env, npm_config_loglevel: "silent" } });
  const [{ filename, files }] = packedSchema.parse(JSON.parse(stdout));
  const home = join(project, "node_modules", "maitred");
  await mkdir(home, { recursive: true });
  await run("tar", ["-xzf", join(dir, filename), "--strip-components=1", "-C", home]);

  const link = async (name: string) => {
    const to = join(project, "node_modules", name);
    await mkdir(dirname(to), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), to, "dir");
  };
  const { dependencies } = packageSchema.parse(JSON.parse(await readFile(join(home, "package.json"), "utf8")));
  for (const name of Object.keys(dependencies)) await link(name);
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "a-project", private: true, type: "module" }));
  return { project, home, files: files.map(({ path }) => path), link, remove: () => rm(dir, { recursive: true, force: true }) };
}
