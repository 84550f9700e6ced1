// Bundles for browsers, of the guests' page and of Studio: a script, styles, and the licences of what is in them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** By its folder of `src/`, what a bundle is made of. `STATIC`: what is beside it as it is. */
export const BUNDLES = { web: "page", studio: "studio" };
const STATIC = /\.(html|svg)$|^docs\.js$/;

/** Whether a path below `src/` belongs to a bundle, and is in the package as part of that alone. */
export function isBundled(path) {
  const [folder, name = ""] = path.split(/[\\/]/);
  return Object.hasOwn(BUNDLES, folder) && !STATIC.test(name);
}

/** `files`: texts by name. `inputs`: what they are made of, by path in the project. */
export async function bundle(folder) {
  const { build } = await import("esbuild");
  const name = BUNDLES[folder];
  const source = (file) => join(root, "src", folder, file);
  const { outputFiles, metafile } = await build({
    entryPoints: [source(`${name}.tsx`), source(`${name}.css`)],
    absWorkingDir: root,
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    tsconfig: source("tsconfig.json"),
  });
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? "";
  const inputs = Object.keys(metafile.inputs);
  return { files: { [`${name}.js`]: textOf(".js"), [`${name}.css`]: textOf(".css"), "LICENSES.txt": licencesOf(inputs) }, inputs };
}

function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []));
  const texts = [...packages].sort().flatMap((folder) => {
    const file = ["LICENSE", "LICENSE.md"].map((name) => join(root, folder, name)).find(existsSync);
    return file ? [`${folder.replace(/^.*node_modules\//, "")}\n\n${readFileSync(file, "utf8").trim()}\n`] : [];
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
