// Installs what is missing: runs on a bare Node, so it uses nothing but Node itself.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");

// The package itself, and the folders named: they hold what only tests or the pages need, whose install scripts nothing needs.
for (const folder of [".", ...process.argv.slice(2)]) {
  install(resolve(root, folder));
  link(resolve(root, folder));
}

function install(folder) {
  const marker = join(folder, "node_modules", ".maitred-installed");
  const wanted = fingerprint(folder);
  if (existsSync(marker) && readFileSync(marker, "utf8") === wanted) return;
  console.error(
    `Installing ${relative(root, folder) || "dependencies"} (once; a minute or less on two cores, half of it where better-sqlite3 is compiled) …`,
  );
  const npm = process.env.npm_execpath;
  const [command, ...prefix] = npm ? [process.execPath, npm] : [process.platform === "win32" ? "npm.cmd" : "npm"];
  const result = spawnSync(
    command,
    [...prefix, "ci", "--no-audit", "--no-fund", "--loglevel=error", ...(folder === root ? [] : ["--ignore-scripts"])],
    {
      cwd: folder,
      stdio: ["ignore", process.stderr, process.stderr],
      env: { ...quickCompiler(), ...process.env, ...nodeHeaders() },
    },
  );
  if (result.status !== 0) {
    console.error(
      [
        "",
        "The installation failed. The npm registry must be reachable; where better-sqlite3 has no prebuilt binary for this",
        "machine, it is compiled, which needs python3, make and a C++ compiler (Debian: `apt-get install python3 make g++`; macOS:",
        "`xcode-select --install`). Then run the same command again.",
      ].join("\n"),
    );
    process.exit(result.status ?? 1);
  }
  mkdirSync(dirname(marker), { recursive: true });
  writeFileSync(marker, wanted);
}

/** What a folder of tests offers to the product: found there as an adopter's own packages would be. */
function link(folder) {
  for (const name of JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).linked ?? []) {
    const place = join(root, "node_modules", name);
    if (existsSync(place)) continue;
    rmSync(place, { force: true });
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(folder, "node_modules", name), place, "junction");
  }
}

/** Another lockfile asks for another installation; so does another Node where native modules were built for its ABI. */
function fingerprint(folder) {
  const lockfile = readFileSync(join(folder, "package-lock.json"));
  const abi = folder === root ? ` abi ${process.versions.modules}` : "";
  return `${createHash("sha256").update(lockfile).digest("hex")} ${process.platform}-${process.arch}${abi}\n`;
}

/** SQLite is compiled in half the time with fewer optimisations, and is 3 to 10 % slower for it: a first start is what a clone is for. */
function quickCompiler() {
  return { CFLAGS: "-O1", CXXFLAGS: "-O1" };
}

/** Compiles against the headers beside the running Node, so that none have to be downloaded. Newer versions of node-gyp read the second name. */
function nodeHeaders() {
  const prefix = resolve(dirname(process.execPath), "..");
  if (!existsSync(join(prefix, "include", "node", "node.h"))) return {};
  return { npm_config_nodedir: prefix, npm_package_config_node_gyp_nodedir: prefix };
}
