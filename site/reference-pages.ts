/** The generated references as lines of the sidebar. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { GENERATED, type Page, ROOT, read, titleOf } from "./pages.js";

export const HTTP_REFERENCE = "http-api-reference";
const TYPESCRIPT_REFERENCE = "typescript";

export function references(): Page[] {
  const http = `${GENERATED}/${HTTP_REFERENCE}`;
  const typescript = `${GENERATED}/${TYPESCRIPT_REFERENCE}`;
  return [
    { title: "HTTP API", file: `${http}/index.md`, pages: named(http, filesOf(http)) },
    { title: "TypeScript API", file: `${typescript}/index.md`, pages: named(typescript, subpaths(typescript)) },
  ];
}

function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name !== "index.md");
}

/** The page of each subpath of the package: `maitred/http` has a folder of its own. */
function subpaths(folder: string): string[] {
  const core = "maitred";
  const names = readdirSync(join(ROOT, folder, core)).map((name) => `${core}/${name}`);
  return [core, ...names].map((name) => `${name}/index.md`).filter((file) => existsSync(join(ROOT, folder, file)));
}

function named(folder: string, files: readonly string[]): Page[] {
  return files.map((name) => ({ title: titleOf(read(`${folder}/${name}`)), file: `${folder}/${name}` }));
}
