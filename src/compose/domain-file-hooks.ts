import { readFile } from "node:fs/promises";
import type { LoadHook, ResolveHook } from "node:module";
import { fileURLToPath } from "node:url";
import { errnoOf } from "../platform/file-system.js";

/**
 * How Node.js finds and reads the files of a domain: those whose address has a mark. `maitred` is the copy that runs, wherever the file
 * lies; `zod` is that copy's where the file has none; a file that one of them imports has the same mark, so that each loading reads all of
 * them anew; and types are taken out of TypeScript. All other modules are left to Node.js.
 */

/** In the address of each file of a domain. Its value is another one each time that the domain is loaded. */
export const MARK = "maitred-domain";

/** Whether TypeScript needs the package esbuild: Node.js takes types out by itself from 22.18 on. */
export const NEEDS_ESBUILD = !(process.features as { readonly typescript?: unknown }).typescript;

export const resolve: ResolveHook = async (specifier, context, next) => {
  const mark = markOf(context.parentURL);
  if (mark === null) return next(specifier, context);
  const own = { ...context, parentURL: import.meta.url };
  if (/^maitred(\/|$)/.test(specifier)) return next(specifier, own);
  const found = await Promise.resolve(next(specifier, context)).catch((error: unknown) => {
    if (errnoOf(error) !== "ERR_MODULE_NOT_FOUND") throw error;
    if (/^zod(\/|$)/.test(specifier)) return next(specifier, own);
    // As TypeScript has its files named in imports.
    if (/^\.{1,2}\/.*\.m?js$/.test(specifier))
      return Promise.resolve(next(specifier.replace(/js$/, "ts"), context)).catch(() => Promise.reject(error));
    throw error;
  });
  if (!found.url.startsWith("file:") || found.url.includes("/node_modules/") || markOf(found.url) !== null) return found;
  const url = new URL(found.url);
  url.searchParams.set(MARK, mark);
  return { ...found, url: url.href };
};

export const load: LoadHook = async (url, context, next) => {
  const { pathname } = new URL(url);
  if (markOf(url) === null || !/\.m?ts$/.test(pathname)) return next(url, context);
  if (!NEEDS_ESBUILD) return next(url, { ...context, format: "module-typescript" as "module" });
  const path = fileURLToPath(new URL(pathname, "file:"));
  return { format: "module", source: await withoutTypes(path, await readFile(path, "utf8")), shortCircuit: true };
};

function markOf(url: string | undefined): string | null {
  return url?.startsWith("file:") ? new URL(url).searchParams.get(MARK) : null;
}

/** @throws SyntaxError whose message begins with the file and the line */
async function withoutTypes(path: string, code: string): Promise<string> {
  try {
    const { transform } = await import("esbuild");
    return (await transform(code, { loader: "ts", format: "esm", target: "node20", sourcefile: path })).code;
  } catch (error) {
    const [first] = (error as { readonly errors?: readonly EsbuildError[] }).errors ?? [];
    throw new SyntaxError(first === undefined ? String(error) : `${path}:${first.location?.line ?? 1}: ${first.text}`);
  }
}

interface EsbuildError {
  readonly text: string;
  readonly location: { readonly line: number } | null;
}
