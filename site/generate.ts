/** The pages that no person writes: the list of decisions, the reference of the HTTP API and that of TypeScript. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createApp } from "../src/http.js";
import { createMaitred } from "../src/index.js";
import { type ApiDocument, httpReference } from "./http-reference.js";
import { decisions, GENERATED, ROOT } from "./pages.js";
import { HTTP_REFERENCE } from "./reference-pages.js";

/** What a server answers at `/openapi.json`, with all the routes that can be switched on. */
async function apiDocument(): Promise<ApiDocument> {
  const dir = mkdtempSync(join(tmpdir(), "maitred-openapi-"));
  const maitred = await createMaitred({ memoryStorageDir: dir, embeddingProvider: "hashing", metrics: true });
  try {
    const { fetch } = await createApp(maitred);
    return (await (await fetch(new Request("http://127.0.0.1/openapi.json"))).json()) as ApiDocument;
  } finally {
    await maitred.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function write(file: string, text: string): void {
  const path = join(ROOT, GENERATED, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Runs a program of the site's packages, there. @throws Error when it fails */
export function runOfSite(program: string, ...args: readonly string[]): void {
  const cwd = join(ROOT, "site");
  const { status } = spawnSync(process.execPath, [join(cwd, "node_modules", program), ...args], { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${program} failed`);
}

/** Writes all of them anew. */
export async function generate(): Promise<void> {
  rmSync(join(ROOT, GENERATED), { recursive: true, force: true });
  const listed = decisions().map(({ title, file }) => `- [${title}](../../${file})`);
  write("adr.md", `# Decisions\n\nWhat was decided, why, and what was not chosen. One page each.\n\n${listed.join("\n")}\n`);
  for (const [name, text] of Object.entries(httpReference(await apiDocument()))) write(`${HTTP_REFERENCE}/${name}`, text);
  runOfSite("typedoc/bin/typedoc");
}
