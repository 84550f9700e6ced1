// Bundles Studio for browsers: its script, its styles, and the licences of what is in them.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const source = (name) => join(root, "src", "studio", name);

/** `files`: texts by name. `inputs`: what they are made of, by path in the project. */
export async function bundleStudio() {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [source("studio.tsx"), source("studio.css")],
    absWorkingDir: root,
    outdir: "studio",
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
  return { files: { "studio.js": textOf(".js"), "studio.css": textOf(".css"), "LICENSES.txt": licencesOf(inputs) }, inputs };
}

function licencesOf(inputs) {
  const packages = new Set(inputs.flatMap((path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? []));
  const texts = [...packages].sort().flatMap((folder) => {
    const file = join(root, folder, "LICENSE");
    return existsSync(file) ? [`${folder.replace(/^.*node_modules\//, "")}\n\n${readFileSync(file, "utf8").trim()}\n`] : [];
  });
  return texts.join(`\n${"-".repeat(80)}\n\n`);
}
