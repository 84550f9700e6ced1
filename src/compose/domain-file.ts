import { execFile } from "node:child_process";
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { register } from "node:module";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { AppError, isAppError } from "../platform/errors.js";
import { newId } from "../platform/ids.js";
import { missingPackage } from "../platform/optional-package.js";
import type { Domain } from "../ports/agent.js";
import { MARK, NEEDS_ESBUILD } from "./domain-file-hooks.js";

/** What a file of a domain may end with. */
const MODULE = /\.m?[jt]s$/;
/** How long files have to be left alone until they are read: an editor writes several, or one in several steps. */
const SETTLED_MS = 100;

/** Hooks are the process's. */
let hooked = false;

/**
 * The domain that a module exports by default: an ES module of JavaScript, or of TypeScript whose types can be taken out. It is read anew
 * with every file that it imports, packages apart. It gets the `maitred` that runs.
 * @throws INVALID_CONFIG that names the file and says in a sentence what is wrong with it
 */
export async function loadDomain(file: string): Promise<Domain> {
  const path = resolve(file);
  const wrong = (why: string, cause?: unknown) =>
    new AppError("INVALID_CONFIG", {
      detail: `${path}: ${why}`,
      errors: [{ pointer: "/DOMAIN_FILE", detail: why }],
      hint: cause === undefined ? HINT : MEND,
      cause,
    });
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) throw wrong("there is no such file.");
  if (!MODULE.test(path)) throw wrong("a domain is a .js, .mjs, .ts or .mts file.");
  if (path.endsWith("ts") && NEEDS_ESBUILD) await requireEsbuild(path);
  if (!hooked) register(new URL("./domain-file-hooks.js", import.meta.url));
  hooked = true;
  const url = pathToFileURL(path);
  url.searchParams.set(MARK, newId());
  const exported = await import(url.href).catch(async (cause: unknown) => {
    if (!isAppError(cause)) throw wrong(await whyNot(cause, path), cause);
    const { code, message, errors } = cause;
    throw new AppError(code, { detail: `${path}: ${message}`, errors, hint: MEND, cause });
  });
  return domainOf(exported, wrong);
}

const MEND = "Mend what is named there.";
const HINT = "Its default export is the domain: `export default defineDomain({ … })`.";

async function requireEsbuild(path: string): Promise<void> {
  try {
    await import("esbuild");
  } catch (cause) {
    throw missingPackage(
      { name: "esbuild", setting: `${path}: TypeScript on Node ${process.versions.node}`, more: ", or use Node 22.18 or newer" },
      cause,
    );
  }
}

/** What kept a module from being loaded, in one line, with its place where that is known. */
async function whyNot(error: unknown, path: string): Promise<string> {
  if (!(error instanceof Error)) return `it throws ${String(error)}.`;
  const [message = ""] = error.message.split("\n", 1);
  if (!(error instanceof SyntaxError))
    return (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" ? `${message}.` : `it throws: ${message}`;
  const said = message.startsWith(`${path}:`) ? message.slice(path.length + 1) : null;
  if (said !== null) return `line ${said}`;
  const line = lineIn(error.stack) ?? lineIn(await checkedByNode(path));
  return line === null ? message : `line ${line}: ${message}`;
}

/** Node.js begins what it tells of a syntax error with the file and the line, where it tells it. */
function lineIn(told = ""): string | null {
  const [first = ""] = told.split("\n", 1);
  return /:(\d+)$/.exec(first)?.[1] ?? null;
}

async function checkedByNode(path: string): Promise<string> {
  const checked = promisify(execFile)(process.execPath, ["--check", path]);
  return checked.then(
    () => "",
    ({ stderr }: { readonly stderr?: string }) => stderr ?? "",
  );
}

function domainOf(exported: Readonly<Record<string, unknown>>, wrong: (why: string) => AppError): Domain {
  const { default: domain } = exported;
  if (isDomain(domain)) return domain;
  const [named] = Object.entries(exported).find(([, value]) => isDomain(value)) ?? [];
  if (named !== undefined) throw wrong(`it exports the domain as \`${named}\`: write \`export default ${named}\`.`);
  if (domain === undefined) throw wrong("it has no default export.");
  if (typeof domain === "function") throw wrong("its default export is a function: export what it returns.");
  if (domain instanceof Promise) throw wrong("its default export is a promise: write `await` before it.");
  if (typeof domain === "object" && domain !== null && "tools" in domain)
    throw wrong("its default export is a description that `defineDomain` has not seen: write `export default defineDomain({ … })`.");
  throw wrong("its default export is no domain.");
}

/** What `defineDomain` returns: it has what no description of one has. */
function isDomain(value: unknown): value is Domain {
  return typeof value === "object" && value !== null && "tools" in value && "needTalk" in value;
}

/** Calls `changed` when modules or JSON in the file's folder have changed and are left alone again. Folders in it are not watched. */
export function watchDomain(file: string, changed: () => void): Pick<FSWatcher, "close"> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(resolve(file)), (_event, name) => {
    if (name !== null && !MODULE.test(name) && !name.endsWith(".json")) return;
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLED_MS);
  });
  return {
    close: () => {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
