import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { ServerProcess } from "../e2e/server-process.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "../packaging/install.js";
import { type ChatBody, OpenAIStub } from "../support/openai-stub.js";
import { openDesk } from "./command.js";

/** The file of a domain, as `maitred --domain` and DOMAIN_FILE take it. It lies where no package is. */

let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
  await installed.link("esbuild");
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

async function folder(files: Readonly<Record<string, string>>): Promise<(name: string) => string> {
  const dir = await mkdtemp(join(tmpdir(), "maitred-domain-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
  return (name) => join(dir, name);
}

const spa = (prompt: string) => `import { defineDomain } from "maitred";
export default defineDomain({ name: "spa", prompt: ${JSON.stringify(prompt)}, tools: [] });`;

const BROKEN: Readonly<Record<string, readonly [text: string | null, said: string]>> = {
  "gone.ts": [null, "there is no such file"],
  "notes.txt": ["A spa.", "a domain is a .js, .mjs, .ts or .mts file"],
  "nothing.mjs": ["export {};", "it has no default export"],
  "named.mjs": [
    `import { defineDomain } from "maitred"; export const spa = defineDomain({ name: "spa", prompt: "A spa.", tools: [] });`,
    "it exports the domain as `spa`: write `export default spa`",
  ],
  "made.mjs": ["export default () => 1;", "its default export is a function: export what it returns"],
  "later.mjs": ["export default Promise.resolve(1);", "its default export is a promise: write `await` before it"],
  "plain.mjs": [`export default { name: "spa", prompt: "A spa.", tools: [] };`, "a description that `defineDomain` has not seen"],
  "number.mjs": ["export default 7;", "its default export is no domain"],
  "typed.ts": ["const a: number = 1;\n\nconst b = ;\n", "line 3: "],
  "script.mjs": ["const a = 1;\n\nconst b = ;\n", "line 3: Unexpected token ';'"],
  "misspelt.mjs": [`import { defineDomian } from "maitred";`, "does not provide an export named 'defineDomian'"],
  "package.mjs": [`import "no-such-package";`, "Cannot find package 'no-such-package'"],
  "module.ts": [`import "./no-such-file.js";`, "no-such-file.js'"],
  "throws.mjs": ["null.a;", "it throws: Cannot read properties of null"],
  "refused.ts": [spa(" "), 'The domain "spa": /prompt: it is empty'],
};

test("what is wrong with a domain's file is said in a sentence that names it", async () => {
  const at = await folder(Object.fromEntries(Object.entries(BROKEN).flatMap(([name, [text]]) => (text === null ? [] : [[name, text]]))));
  const desk = await openDesk(installed);
  onTestFinished(() => desk.remove());
  const told = await Promise.all(
    Object.keys(BROKEN).map(async (name) => [name, (await desk.run(["--domain", at(name), "memories"])).stderr.split("\n")[0]] as const),
  );
  expect(told).toEqual(Object.entries(BROKEN).map(([name, [, said]]) => [name, expect.stringContaining(said)]));
  expect(told.filter(([name, line = ""]) => !line.startsWith(`${at(name)}: `))).toEqual([]);
}, 120_000);

const READS_TYPESCRIPT = Boolean((process.features as { readonly typescript?: unknown }).typescript);

test.skipIf(READS_TYPESCRIPT)(
  "TypeScript on a Node.js that can't read it needs a package, which is named",
  async () => {
    const at = await folder({ "spa.ts": spa("A spa.") });
    const without = await installPackage();
    onTestFinished(() => without.remove());
    const desk = await openDesk(without);
    onTestFinished(() => desk.remove());
    const { code, stderr } = await desk.run(["--domain", at("spa.ts"), "memories"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/spa\.ts: TypeScript on Node .* needs the package esbuild.*\n.*npm install esbuild/),
    ]);
  },
  120_000,
);

test("--domain names what a server has; and what is no domain of this process is refused beside --url", async () => {
  const desk = await openDesk(installed);
  onTestFinished(() => desk.remove());
  const { code, stderr } = await desk.run(["--url", "http://127.0.0.1:1", "--domain", "spa.ts", "memories"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("'--domain <file>' cannot be used with option '--url <url>'")]);
  expect(await desk.run(["serve", "--watch"])).toMatchObject({ code: 2, stderr: expect.stringContaining("There is no domain to watch.") });
}, 60_000);

/** A chat model that answers with the system prompt that it was given; what is said `slowly` it holds. */
async function promptModel(): Promise<OpenAIStub> {
  const stub = await OpenAIStub.open();
  onTestFinished(() => stub.close());
  return stub.chatOtherwise((body: ChatBody) => ({
    text: String(body.messages[0]?.content).slice(0, 10),
    ...(JSON.stringify(body.messages.at(-1)).includes("slowly") && { fault: "slow" as const }),
  }));
}

function sayTo(url: string) {
  return async (message: string, sessionId?: string): Promise<ChatAnswer> => {
    const body = JSON.stringify({ message, ...(sessionId && { session_id: sessionId }) });
    const answer = await fetch(`${url}/v1/chat`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    expect(answer.status).toBe(200);
    return (await answer.json()) as ChatAnswer;
  };
}

test("a file that changes is the next turn's domain; a turn under way ends with the old; a broken one changes nothing", async () => {
  const at = await folder({
    "spa.ts": `import { defineDomain } from "maitred";
      import { PROMPT } from "./prompt.js";
      export default defineDomain({ name: "spa", prompt: PROMPT, tools: [] });`,
    "prompt.ts": 'export const PROMPT: string = "The first.";',
  });
  const stub = await promptModel();
  const variables = { MEMORY_STORAGE_DIR: at("storage"), OPENAI_BASE_URL: stub.url, EMBEDDING_PROVIDER: "hashing", MEM0_ENABLED: "false" };
  const server = ServerProcess.start(installed, variables, ["serve", "--domain", at("spa.ts"), "--watch"]);
  const say = sayTo(await server.url());
  expect(server.stdout).toContain("Domain    spa (");
  const { session_id: session } = await say("Good evening");

  const before = stub.requests.length;
  const slow = say("slowly please", session);
  await stub.arrived(before + 1);
  await writeFile(at("prompt.ts"), 'export const PROMPT: string = "The second.";');
  await server.printed("Taking anew");
  const after = say("And now?", session);
  stub.release();
  expect((await slow).message.content).toBe("The first.");
  expect(await after).toMatchObject({ session_id: session, message: { content: "The second" } });
  await server.printed('Taken anew: the domain "spa"');

  await writeFile(at("spa.ts"), "const spa = ;");
  await server.printed("Still with the domain as it was");
  expect(server.stdout).toContain(`${at("spa.ts")}: line 1: `);
  expect((await say("And now?", session)).message.content).toBe("The second");

  // What only the whole shows: an argument of a name that the gate adds to tools.
  const clash = `defineTool({ name: "book", description: "Books.", parameters: z.object({ agreed: z.string() }),
    binds: { what: "bath", items: () => [1], show: () => "A bath" }, run: () => 1 })`;
  await writeFile(
    at("spa.ts"),
    `import { defineDomain, defineTool } from "maitred"; import { z } from "zod";
    export default defineDomain({ name: "spa", prompt: "The third.", tools: [${clash}] });`,
  );
  await server.printed("Back to the domain as it was");
  expect((await say("And now?", session)).message.content).toBe("The second");
  server.signal("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
}, 60_000);

test("DOMAIN_FILE names it for `npm start`, and every command", async () => {
  const at = await folder({ "spa.mjs": spa("The spa on the hill.") });
  const stub = await promptModel();
  const variables = { MEMORY_STORAGE_DIR: at("storage"), OPENAI_BASE_URL: stub.url, EMBEDDING_PROVIDER: "hashing", MEM0_ENABLED: "false" };
  const server = ServerProcess.start(installed, { ...variables, DOMAIN_FILE: at("spa.mjs") });
  expect((await sayTo(await server.url())("Good evening")).message.content).toBe("The spa on");
  server.signal("SIGTERM");
  expect((await server.ended).code).toBe(0);
}, 60_000);
