// Compiles the packages and src/, each to a dist/ of its own, and puts what is not TypeScript beside it. With `--transpile` nothing is
// checked and no declarations are made: all that a start needs, in a fraction of the time.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLES, bundle, isBundled } from "./browser-bundles.mjs";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
// Those that build on another of them last.
const needed = (folder) => Object.keys(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).dependencies ?? {});
const packages = readdirSync(join(root, "packages")).map((name) => join(root, "packages", name));
const builds = (folder) => (needed(folder).some((name) => name.startsWith("@maitred/")) ? 1 : 0);
const folders = [...packages.toSorted((a, b) => builds(a) - builds(b)), root];
for (const folder of folders) rmSync(join(folder, "dist"), { recursive: true, force: true });
if (process.argv.includes("--transpile")) for (const folder of folders) await transpile(folder);
else {
  // The packages are compiled against the core's types, and the core against theirs: its declarations come first.
  compile(root, "--emitDeclarationOnly", "--noCheck");
  for (const folder of folders) compile(folder);
}
// What isn't code of the pages, and the lists and prompts that modules read where they load.
for (const folder of folders)
  cpSync(join(folder, "src"), join(folder, "dist"), { recursive: true, filter: (path) => isFolder(path) || isData(path) });
for (const folder of Object.keys(BUNDLES))
  for (const [name, text] of Object.entries((await bundle(folder)).files)) writeFileSync(join(root, "dist", folder, name), text);
// What /docs shows the document with: nothing else of the package.
const swaggerUi = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
for (const name of ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"])
  cpSync(join(swaggerUi, name), join(root, "dist", "web", "swagger-ui", name));
// What runs the model of packages/minilm: one module and its WebAssembly, of a package that is many times as large.
const runtime = dirname(createRequire(import.meta.url).resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm"));
for (const name of ["ort.wasm.bundle.min.mjs", "ort-wasm-simd-threaded.wasm"])
  cpSync(join(runtime, name), join(root, "packages", "minilm", "dist", "runtime", name));
chmodSync(join(root, "dist", "cli.js"), 0o755);

function compile(folder, ...options) {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json", ...options], { cwd: folder, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

async function transpile(folder) {
  const { build } = await import("esbuild");
  const sources = readdirSync(join(folder, "src"), { recursive: true }).filter(
    (path) => path.endsWith(".ts") && !(folder === root && isBundled(path)),
  );
  await build({
    entryPoints: sources.map((path) => join(folder, "src", path)),
    outdir: join(folder, "dist"),
    outbase: join(folder, "src"),
    format: "esm",
    platform: "node",
    // Where Node knows import attributes: an earlier target loses them, and with them every JSON that is imported.
    target: "node20.19",
  });
}

function isFolder(path) {
  return statSync(path).isDirectory();
}

function isData(path) {
  const own = relative(join(root, "src"), path);
  return Object.hasOwn(BUNDLES, own.split(sep)[0]) ? !isBundled(own) : /\.(json|txt|sql|lua)$/.test(path);
}
