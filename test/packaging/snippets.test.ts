import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { needing } from "../support/needing.js";
import { type InstalledPackage, installPackage, PACKED_WITHIN_MS } from "./install.js";
import { models } from "./snippet-models.js";

/** The programs in README and docs, as they are printed: compiled against the packed package's types, and run. */

const run = promisify(execFile);
let installed: InstalledPackage;
beforeAll(async () => {
  installed = await installPackage();
  for (const name of ["typescript", "@types/node"]) await installed.link(name);
}, PACKED_WITHIN_MS);
afterAll(() => installed.remove());

/** All blocks of TypeScript of a page, with the word behind `ts`. */
async function snippets(page: string): Promise<{ code: string; name: string }[]> {
  const text = await readFile(join(installed.home, page), "utf8");
  return [...text.matchAll(/```ts ?([\w-]*)\n([\s\S]*?)```/g)].map(([, name = "", code = ""]) => ({ name, code }));
}

const COMPILER_OPTIONS = {
  target: "es2023",
  module: "nodenext",
  strict: true,
  skipLibCheck: true,
  types: ["node"],
  exactOptionalPropertyTypes: true,
};

/** A folder for a program, with the modules that it takes for granted. */
async function folderFor(name: string, modules: Readonly<Record<string, string>> = {}): Promise<string> {
  const dir = join(installed.project, name);
  await mkdir(dir);
  for (const [file, text] of Object.entries(modules)) await writeFile(join(dir, file), text);
  return dir;
}

/** The program with a recall that is waited for: its few milliseconds are a promise to a guest, and not kept on a machine that tests. */
function patient(code: string): string {
  return code.replace('memoryStorageDir: "./memory_storage"', "$&, recallDeadlineMs: 30_000");
}

/** Compiles a program and runs it in its folder. */
async function compiledAndRun(dir: string, code: string): Promise<string> {
  await writeFile(join(dir, "snippet.ts"), `${patient(code)}\nexport {};\n`);
  await writeFile(join(dir, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: ["snippet.ts"] }));
  const compiler = join(installed.project, "node_modules", "typescript", "bin", "tsc");
  await run(process.execPath, [compiler, "-p", "."], { cwd: dir }).catch((error: { stdout?: string }) => {
    throw new Error(`doesn't compile:\n${error.stdout}`);
  });
  const env = { PATH: process.env.PATH, OPENAI_AGENTS_DISABLE_TRACING: "1" };
  return (await run(process.execPath, ["snippet.js"], { cwd: dir, env })).stdout;
}

/** The block of text that a page prints behind its n-th program without a name, or behind the one of a name. */
async function printedAfter(page: string, program: number | string): Promise<string> {
  const text = await readFile(join(installed.home, page), "utf8");
  const behind = typeof program === "number" ? text.split(/```ts\n/)[program + 1] : text.split(`\`\`\`ts ${program}\n`)[1];
  return /```text\n([\s\S]*?)```/.exec(behind ?? "")?.[1] ?? "";
}

describe("the programs of README and docs compile against the packed package and run", () => {
  test("README: an agent of one's own prints what is printed there, but for the day", async () => {
    const [{ code = "" } = {}] = await snippets("README.md");
    const undated = (text: string) => text.replaceAll(/\b\d{1,2} [A-Z][a-z]+\b|since [A-Z][a-z]+/g, "DAY").trim();
    const printed = undated(await compiledAndRun(await folderFor("readme-own-agent"), code));
    expect(printed).toContain("Needs step-free access");
    expect(printed).toBe(undated(await printedAfter("README.md", 0)));
  }, 60_000);

  test("README: a whole assistant goes by what the first session was told", async () => {
    const [, { code = "" } = {}] = await snippets("README.md");
    const printed = await compiledAndRun(await folderFor("readme-assistant"), code);
    expect(printed).toMatch(/prefers jazz/);
    expect(printed).toContain("[ 'Needs step-free access', 'Prefers jazz concerts' ]");
    expect(await printedAfter("README.md", 1)).toContain("[ 'Needs step-free access', 'Prefers jazz concerts' ]");
  }, 60_000);

  test("the quickstart's, without a peer that is optional", async () => {
    expect(existsSync(join(installed.project, "node_modules", "@huggingface", "transformers"))).toBe(false);
    const [{ code = "" } = {}] = await snippets("docs/quickstart.md");
    const dir = await folderFor("quickstart");
    const stdout = await compiledAndRun(dir, code);
    expect(stdout).toMatch(/jazz/i);
    expect(stdout).toMatch(/step-free/i);
    expect(existsSync(join(dir, "memory_storage", "vectors.db"))).toBe(true);
  }, 60_000);

  test("a product of one's own, from nothing: its second session knows, a wrong one is refused, and a prompt alone needs a model", async () => {
    const code = Object.fromEntries((await snippets("docs/domain.md")).map((each) => [each.name, each.code]));
    const modules = { "catalogue.ts": code.catalogue ?? "", "domain.ts": code.domain ?? "" };
    const ran = async (name: string) => compiledAndRun(await folderFor(`domain-${name}`, modules), code[name] ?? "");
    expect(await ran("sessions")).toBe(await printedAfter("docs/domain.md", "sessions"));
    expect(await ran("refused")).toBe(await printedAfter("docs/domain.md", "refused"));
    expect(await ran("alone")).toContain("OPENAI_API_KEY");
    expect(Object.keys(code)).toEqual(["catalogue", "domain", "sessions", "refused", "alone"]);
  }, 60_000);
});

needing("ecosystem")("a snippet for each framework compiles and runs, and the model is told what is known", () => {
  beforeAll(async () => {
    for (const name of ["@langchain/core", "@langchain/langgraph", "@openai/agents", "@google/adk", "@mastra/core"])
      await installed.link(name, "ecosystem");
    await installed.link("ai");
  });

  test.each(Object.keys(models))(
    "%s",
    async (framework) => {
      const snippet = (await snippets("docs/own-agent.md")).find(({ name }) => name === framework);
      const dir = await folderFor(framework, models[framework]);
      const known = `import { createMaitred } from "maitred";
        const maitred = await createMaitred({ memoryStorageDir: "./memory_storage" });
        for (const tenant of ["default", "adk.desk"])
          await maitred.for({ user: "ada", tenant }).memories.add("Needs step-free access", { category: "accessibility", strength: "hard" });
        await maitred.close();`;
      await writeFile(join(dir, "known.mjs"), known);
      await run(process.execPath, ["known.mjs"], { cwd: dir, env: { PATH: process.env.PATH } });
      const said = await compiledAndRun(dir, `${snippet?.code}\nawait maitred.close();`);
      expect(said).toMatch(/TOLD: .*Needs step-free access/);
      expect(said).toContain("Very well.");
    },
    60_000,
  );

  test("none takes more than 12 lines between its imports and what it prints", async () => {
    for (const { name, code } of await snippets("docs/own-agent.md")) {
      const lines = code.split("\n").filter((line) => line.trim() !== "");
      const printed = lines.findIndex((line) => line.includes("console.log"));
      const written = lines.slice(lines.findLastIndex((line) => line.startsWith("import ")) + 1, printed === -1 ? undefined : printed);
      expect([name, written.length]).toEqual([name, expect.toSatisfy((count: number) => count > 2 && count <= 12)]);
    }
  });

  test("every snippet of the page is one of these", async () => {
    expect((await snippets("docs/own-agent.md")).map(({ name }) => name)).toEqual(Object.keys(models));
  });
});

/** What stands around the snippets of docs/coming-from.md, by their heading; each prints what it promises. `before`: what is the reader's. */
const COMING_FROM: Readonly<Record<string, { readonly before?: string; readonly after: string; readonly prints: RegExp }>> = {
  mem0: { after: "console.log(found[0]?.text, found[0]?.category)", prints: /^Prefers jazz concerts genre$/m },
  Zep: {
    after: `const said = await ada.sessions.messages({ thread: "t1" });
      console.log("ZEP", session.title, said.data.map(({ role }) => role), answer.message.content === said.data[1]?.content)`,
    prints: /^ZEP Anniversary \[ 'user', 'assistant' \] true$/m,
  },
  "Google ADK": {
    after: `await maitred.for({ user: "ada", tenant: "adk.desk" }).memories.add("Prefers jazz concerts");
      console.log("ADK", JSON.stringify(await memoryService.searchMemory({ appName: "desk", userId: "ada", query: "what music?" })))`,
    prints: /^ADK .*Prefers jazz concerts/m,
  },
  Mastra: {
    before: `const [message, thread] = ["What goes with what I like?", "m1"];
      const agent = {
        generate: async (_: string, { instructions }: { instructions: string }) => {
          console.log("MASTRA", JSON.stringify(instructions));
          return { text: "Very well." };
        },
      };
      await ada.memories.add("Needs step-free access", { category: "accessibility", strength: "hard" });`,
    after: `console.log("KEPT", (await ada.sessions.messages({ thread })).data.map(({ content }) => content))`,
    prints: /^MASTRA .*Needs step-free access[\s\S]*^KEPT \[ 'What goes with what I like\?', 'Very well\.' \]$/m,
  },
  "OpenAI Agents SDK": {
    after: `await session.addItems([{ type: "message", role: "user", content: "I am allergic to nuts." }]);
      await session.addItems([{ type: "message", role: "assistant", content: "Noted." }]);
      await ada.sessions.flush({ thread: "t1" }, { timeoutMs: 30_000 });
      console.log("AGENTS", (await session.getItems()).length, (await ada.memories.search("nuts")).map(({ text }) => text))`,
    prints: /^AGENTS \d+ \[.*nuts/im,
  },
  "Chainlit's data layer": {
    before: `await ada.chat("What is on in Bergen this weekend?", { thread: "b" });
      await ada.sessions.update({ thread: "b" }, { title: "A week in Bergen" });`,
    after: `console.log("CHAINLIT", data.length, steps.map(({ type }) => type), elements.length > 0)`,
    prints: /^CHAINLIT 1 \[[^\]]*'tool[^\]]*\] true$/m,
  },
  "Session managers over Firestore and the like": {
    after: `const room = await ada.sessions.get({ thread: "room-12" });
      const days = (Date.parse(room.expires_at ?? "") - Date.parse(room.created_at)) / 86_400_000;
      console.log("ROOM", room.id === id, room.agent_type, room.topic, room.tags, room.metadata, days)`,
    prints: /^ROOM true concierge A week in Bergen \[ 'fjord' \] \{ floor: 3 \} 7$/m,
  },
};

/** The same where the framework's own package is needed. */
const COMING_FROM_LANGCHAIN: typeof COMING_FROM = {
  "LangChain memory": {
    before: `import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
      import { AIMessage, HumanMessage, mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from "@langchain/core/messages";
      const langchain = { BaseListChatMessageHistory, mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages };`,
    after: `await history.addMessages([new HumanMessage("I am allergic to nuts."), new AIMessage("Noted.")]);
      await ada.sessions.flush({ thread: "t1" }, { timeoutMs: 30_000 });
      console.log("HISTORY", (await history.getMessages()).map(({ text }: { text: string }) => text));
      console.log("KNOWN", (await ada.memories.search("nuts")).map(({ text }) => text))`,
    prints: /^HISTORY [\s\S]*- Is allergic to nuts[\s\S]*'I am allergic to nuts\.',\s+'Noted\.'\s+\]\nKNOWN \[ 'Is allergic to nuts' \]$/m,
  },
  "LangGraph's store": {
    before: `import { BaseStore } from "@langchain/langgraph";`,
    after: `await store.put(["memories", "ada"], "k", { text: "Prefers jazz concerts", category: "genre" });
      console.log("STORE", (await store.search(["memories", "ada"], { query: "what music?" })).map(({ value }) => value.text));
      console.log("BY HAND", (await ada.memories.search("what music?")).map(({ text }) => text))`,
    prints: /^STORE \[.*'Prefers jazz concerts'.*\]\nBY HAND \[.*'Prefers jazz concerts'/m,
  },
};

/** The snippets of docs/coming-from.md below its first, by their heading. */
async function comingFrom(): Promise<{ readonly setUp: string; readonly sections: ReadonlyMap<string, string> }> {
  const text = await readFile(join(installed.home, "docs/coming-from.md"), "utf8");
  const [[, setUp = ""] = [], ...others] = text
    .split("\n## ")
    .map((section): [string, string] => [section.split("\n")[0] ?? "", /```ts\n([\s\S]*?)```/.exec(section)?.[1] ?? ""]);
  return { setUp, sections: new Map(others) };
}

/** One program of several snippets, each in a scope of its own. */
async function oneProgram(around: typeof COMING_FROM): Promise<string> {
  const { setUp, sections } = await comingFrom();
  const parts = Object.entries(around).map(([heading, { before = "", after }]) => `${before}\n${sections.get(heading)}\n${after};\n`);
  const imports = parts.flatMap((part) => part.match(/^\s*import .*;$/gm) ?? []);
  const scopes = parts.map((part) => `{\n${part.replaceAll(/^\s*import .*;$/gm, "")}}`);
  return [...imports, setUp, ...scopes, "await maitred.close();"].join("\n");
}

describe("docs/coming-from.md: what each snippet promises is so", () => {
  test("by the package alone", async () => {
    const printed = await compiledAndRun(await folderFor("coming-from"), await oneProgram(COMING_FROM));
    for (const { prints } of Object.values(COMING_FROM)) expect(printed).toMatch(prints);
  }, 60_000);

  needing("ecosystem")("by LangChain's packages", () => {
    test("a history's words are remembered, and what a graph keeps is a memory", async () => {
      for (const name of ["@langchain/core", "@langchain/langgraph"]) await installed.link(name, "ecosystem");
      const printed = await compiledAndRun(await folderFor("coming-from-langchain"), await oneProgram(COMING_FROM_LANGCHAIN));
      for (const { prints } of Object.values(COMING_FROM_LANGCHAIN)) expect(printed).toMatch(prints);
    }, 60_000);
  });

  test("every section's snippet is one of these", async () => {
    const { sections } = await comingFrom();
    expect([...sections.keys()].toSorted()).toEqual([...Object.keys(COMING_FROM), ...Object.keys(COMING_FROM_LANGCHAIN)].toSorted());
    expect([...sections.values()].filter((code) => code === "")).toEqual([]);
  });
});
