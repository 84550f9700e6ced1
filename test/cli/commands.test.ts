import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { errorLines } from "../../src/cli/errors.js";
import type { CliParts } from "../../src/cli/program.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { AppError } from "../../src/platform/errors.js";
import type { ChatRequest } from "../../src/ports/application.js";
import type { ErasureReceipt } from "../../src/ports/resources.js";
import type { Script } from "../support/fake-application.js";
import { AT, MEMORY_ID, SESSION_ID, sampleAnswer, sampleMemory, sampleSession } from "../support/samples.js";
import { endingMemory, waitingMemory } from "../support/turn-memories.js";
import { type RunOptions, run, runRemote } from "./run.js";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "maitred-cli-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const LOCAL = ownerOf("default", "local-user");
const RECALLED = {
  id: MEMORY_ID,
  text: "Prefers jazz",
  category: "genre",
  strength: "hard" as const,
  score: 1,
  source: null,
  created_at: AT,
};

test("serve runs the server until it is stopped, with what the command line says before the environment", async () => {
  const served: object[] = [];
  const serve: CliParts["serve"] = async (variables, { watch }) => served.push({ ...variables, watch });
  expect(await run(["serve", "--port", "8080", "--host", "::1"], { parts: { serve } })).toMatchObject({ code: 1, stderr: "", closed: 0 });
  expect(await run(["--domain", "spa.ts", "serve", "--watch"], { parts: { serve } })).toMatchObject({ code: 2 });
  expect(served).toEqual([
    { PORT: "8080", HOST: "::1", watch: false },
    { DOMAIN_FILE: "spa.ts", watch: true },
  ]);
});

/** Answers with what was said; keeps the requests. */
function echoing(requests: ChatRequest[], change: Parameters<typeof sampleAnswer>[0] = {}): NonNullable<Script["chat"]> {
  return {
    chat: async (request, options) => {
      requests.push(request);
      const answer = sampleAnswer({ message: { ...sampleAnswer().message, content: `You said: ${request.message}` }, ...change });
      const session = { session_id: answer.session_id, turn: 1, user_message_id: MEMORY_ID, created: true };
      await options?.onEvent?.({ type: "session", ...session });
      await options?.onEvent?.({ type: "memory", memory: answer.memory });
      for (const delta of answer.message.content.split(/(?<= )/)) await options?.onEvent?.({ type: "token", delta });
      return answer;
    },
  };
}

const RECEIPT: ErasureReceipt = { receipt_id: "r-1", completed_at: AT, erased: { sessions: 2, history_entries: 7 }, verified: true };

describe.each([
  ["on the storage directory", run],
  ["through a server's API", runRemote],
] as const)("%s", (_where, go: (argv: readonly string[], options?: RunOptions) => ReturnType<typeof run>) => {
  test("chat -m says one thing, streams the answer, and tells what was kept in mind", async () => {
    const requests: ChatRequest[] = [];
    const memory = {
      status: "ok",
      write_back: "pending",
      to_confirm: [],
      recalled: [RECALLED, { ...RECALLED, id: "other", text: "Likes Rome" }],
      used: [RECALLED.id],
    } as const;
    const ran = await go(["chat", "-m", "jazz tonight?"], { application: { chat: echoing(requests, { memory }) } });
    expect(ran).toMatchObject({ code: 0, stdout: "You said: jazz tonight?\nKept in mind: Prefers jazz (must hold)\n", stderr: "" });
    expect(requests).toMatchObject([{ owner: LOCAL, message: "jazz tonight?", channel: "cli" }]);
    expect(requests[0]?.timeZone).toBe(new Intl.DateTimeFormat().resolvedOptions().timeZone);
  });

  test("chat --json writes the answer as the API has it", async () => {
    const ran = await go(["--json", "chat", "-m", "hi"], { application: { chat: echoing([]) } });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      session_id: SESSION_ID,
      message: { content: "You said: hi" },
      memory: { status: "ok" },
    });
    expect(ran.stdout.trim().split("\n")).toHaveLength(1);
  });

  test("piped lines are messages of one session, and commands work among them", async () => {
    const requests: ChatRequest[] = [];
    const forgotten: string[] = [];
    const ran = await go(["chat"], {
      stdin: "one\n\n/memories\n/forget 1\ntwo\n/sessions\n/new\nthree\n/resume 1\nfour\n/quit\nfive\n",
      application: {
        chat: echoing(requests),
        sessions: {
          list: async () => ({ data: [sampleSession({ title: "Jazz\u001b[2J" })], nextCursor: null }),
          get: async () => sampleSession(),
          flush: async () => ({ pending_turns: 0, failed_turns: 0 }),
        },
        memories: {
          list: async (_owner, query) => {
            expect(query).toMatchObject({ status: "active", limit: 50 });
            return { data: [sampleMemory({ strength: "hard" })], nextCursor: null };
          },
          forget: async (_owner, id) => {
            forgotten.push(id);
            return [];
          },
        },
      },
    });
    expect(ran.code).toBe(0);
    expect(requests.map(({ message, sessionId }) => [message, sessionId])).toEqual([
      ["one", undefined],
      ["two", SESSION_ID],
      ["three", undefined],
      ["four", SESSION_ID],
    ]);
    expect(forgotten).toEqual([MEMORY_ID]);
    expect(ran.stdout).toContain("  1  Likes the quiet rows at the back (seating, must hold)");
    expect(ran.stdout).toContain("Forgotten.");
    // A title can't move the cursor or clear the screen.
    expect(ran.stdout).toContain("  1* Jazz[2J");
    expect(ran.stdout).not.toContain("\u001b");
  });

  test("/confirm shows what waits, and a number with yes or no settles that one; anything else is refused and settles nothing", async () => {
    const settled: string[] = [];
    const [nuts, ending] = [waitingMemory(), endingMemory({ id: "01936b2e-7c00-7000-8000-0000000000ee" })];
    const settle = (how: string) => async (_owner: unknown, id: string) => {
      settled.push(`${how} ${id}`);
      return id === nuts.id ? nuts : ending;
    };
    const memories: Script["memories"] = {
      list: async (_owner, { status }) => ({ data: status === "review" ? [nuts] : [ending], nextCursor: null }),
      approve: settle("yes"),
      reject: settle("no"),
    };
    const ran = await go(["chat"], { stdin: "/confirm\n/confirm 1 yes\n/confirm 2 no\n", application: { memories } });
    expect(ran.stdout).toContain("  1  Keep: Is allergic to nuts (must hold)?");
    expect(ran.stdout).toContain("  2  No longer: Is allergic to nuts (must hold)?");
    expect(ran.stdout).toContain("Settled: Is allergic to nuts");
    expect(ran.stdout).toContain("Dropped: No longer: Is allergic to nuts");
    for (const [said, why] of [
      ["3 yes", "Which one?"],
      ["1", "Yes or no?"],
      ["1 perhaps", "Yes or no?"],
    ]) {
      const refused = await go(["chat"], { stdin: `/confirm\n/confirm ${said}\n`, application: { memories } });
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(why ?? "")]);
    }
    expect(settled).toEqual([`yes ${nuts.id}`, `no ${ending.id}`]);
  });

  test("/confirm with nothing that waits says so", async () => {
    const memories = { list: async () => ({ data: [], nextCursor: null }) };
    const ran = await go(["chat"], { stdin: "/confirm\n/confirm 1 yes\n", application: { memories } });
    expect(ran.stdout).toContain("Nothing waits for your word.");
    expect(ran.stderr).toContain("/confirm");
  });

  test("chat says when long-term memory was out of reach", async () => {
    const memory = { status: "degraded", write_back: "pending", to_confirm: [], recalled: [], used: [] } as const;
    const ran = await go(["chat", "-m", "hi"], { application: { chat: echoing([], { memory }) } });
    expect(ran.stdout).toContain("Long-term memory is out of reach; this answer came without it.");
  });

  test.each([
    ["an unknown session", ["chat", "-s", SESSION_ID, "-m", "hi"], "SESSION_NOT_FOUND", 3],
    ["a model that is down", ["chat", "-m", "hi"], "MODEL_UNAVAILABLE", 5],
    ["a session that is archived", ["chat", "-m", "hi"], "SESSION_NOT_ACTIVE", 2],
  ] as const)("%s ends with its exit code, and says what to do", async (_name, argv, code, exit) => {
    const fail = async () => {
      throw new AppError(code);
    };
    const application = { chat: { chat: fail }, sessions: { get: fail } };
    const ran = await go(argv, { application });
    expect(ran.code).toBe(exit);
    const [, hint = ""] = errorLines(new AppError(code));
    expect(ran.stderr).toContain(hint);
    expect(hint).not.toContain("/v1");
    expect(ran.stderr).not.toContain("    at ");
    const told = await go(["--json", ...argv], { application });
    expect(JSON.parse(told.stdout)).toMatchObject({ error: { code, hint } });
  });

  test("export to a file is whole or not there, and only its owner can read it", async () => {
    const file = join(dir, "me.json");
    const exporting = async function* () {
      yield '{"format":';
      yield '"maitred-export"}';
    };
    const ran = await go(["export", file], { application: { privacy: { export: exporting } } });
    expect(ran).toMatchObject({ code: 0, stdout: `${file}: 27 bytes.\n` });
    expect(await readFile(file, "utf8")).toBe('{"format":"maitred-export"}');
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const breaking = async function* () {
      yield "{";
      throw new AppError("LONG_TERM_MEMORY_UNAVAILABLE");
    };
    const broken = await go(["export", join(dir, "other.json")], { application: { privacy: { export: breaking } } });
    expect(broken.code).not.toBe(0);
    expect(await readdir(dir)).toEqual(["me.json"]);
  });

  test("export to stdout is the document and nothing else", async () => {
    const exporting = async function* () {
      yield '{"a":"é"}';
    };
    for (const argv of [["export"], ["export", "-"], ["--json", "export", "-"]]) {
      expect((await go(argv, { application: { privacy: { export: exporting } } })).stdout).toBe('{"a":"é"}');
      expect(existsSync("-")).toBe(false);
    }
  });

  test("erase asks first where nobody can be asked, and shows the receipt", async () => {
    const erased: string[] = [];
    const application: Script = {
      privacy: {
        erase: async (owner) => {
          erased.push(owner);
          return RECEIPT;
        },
      },
    };
    const asked = await go(["erase"], { application });
    expect(asked).toMatchObject({ code: 2, stdout: "" });
    expect(asked.stderr).toContain("--yes");
    expect(erased).toEqual([]);
    const ran = await go(["erase", "--yes"], { application });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("history entries: 7");
    expect(ran.stdout).toContain("nothing is left");
    expect(erased).toEqual([LOCAL]);
  });

  test("an erasure that left something ends with 6 and names the store", async () => {
    const receipt = { ...RECEIPT, verified: false, residue: { history: 3 } };
    const ran = await go(["erase", "--yes"], { application: { privacy: { erase: async () => receipt } } });
    expect(ran.code).toBe(6);
    expect(ran.stderr).toContain("history (3)");
  });

  test.each([
    ["lines", '{"session_id":"s","role":"user","content":"hi"}\n', [], "ndjson"],
    ["an export", '{"format":"maitred-export",\n"version":1}', [], "export"],
    ["a list of conversations", '[{"mapping":{}}]', [], "export"],
    ["what it is told to be", "whatever", ["--format", "ndjson"], "ndjson"],
  ] as const)("import takes in %s", async (_name, content, flags, format) => {
    const file = join(dir, "in");
    await writeFile(file, content);
    const seen: unknown[] = [];
    const ran = await go(["import", file, "--extract", ...flags], {
      application: {
        imports: {
          import: async (owner, body, options) => {
            const chunks: Uint8Array[] = [];
            for await (const chunk of body) chunks.push(chunk);
            seen.push([owner, Buffer.concat(chunks).toString("utf8"), options.format, options.extract]);
            return { sessions: 1, messages: 1, skipped_duplicates: 2 };
          },
        },
      },
    });
    expect(ran).toMatchObject({ code: 0, stdout: "1 messages of 1 sessions; 2 were there already.\n", stderr: "" });
    expect(seen).toEqual([[LOCAL, content, format, true]]);
  });

  test("import of a file that is not there, and of one with a bad line", async () => {
    expect(await go(["import", join(dir, "nothing")])).toMatchObject({ code: 3 });
    const file = join(dir, "bad");
    await writeFile(file, "{}\n");
    const errors = [{ pointer: "/lines/1/content", detail: "missing" }];
    const refuse = async (_owner: unknown, body: AsyncIterable<Uint8Array>) => {
      for await (const _ of body);
      throw new AppError("INVALID_IMPORT", { detail: "Line 1 is not valid.", errors });
    };
    const ran = await go(["import", file, "--format", "ndjson"], { application: { imports: { import: refuse } } });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain("Line 1 is not valid.\n  /lines/1/content: missing");
  });
});

test("import sends a large file of lines in parts that end with a line, and adds up", async () => {
  const line = `${JSON.stringify({ session_id: "s", role: "user", content: "x".repeat(99_900) })}\n`;
  const file = join(dir, "large");
  await writeFile(file, line.repeat(1_000));
  const parts: number[] = [];
  const ran = await run(["import", file], {
    application: {
      imports: {
        import: async (_owner, body) => {
          let size = 0;
          let last = 0;
          for await (const chunk of body) {
            size += chunk.length;
            last = chunk.at(-1) ?? 0;
          }
          expect(last).toBe(0x0a);
          parts.push(size);
          return { sessions: 1, messages: size / line.length, skipped_duplicates: 0 };
        },
      },
    },
  });
  expect(ran).toMatchObject({ code: 0, stdout: "1000 messages of 2 sessions.\n" });
  expect(parts).toHaveLength(2);
  expect(Math.max(...parts)).toBeLessThan(64 * 1024 * 1024);
  expect(parts.reduce((sum, size) => sum + size, 0)).toBe(line.length * 1_000);
});

describe.each([
  ["on the storage directory", run],
  ["through a server's API", runRemote],
] as const)("import of a ChatGPT export that is too large to be sent at once, %s", (_where, go) => {
  const conversation = (id: string, fill: number) => {
    const message = {
      id: `m-${id}`,
      author: { role: "user" },
      content: { content_type: "text", parts: [`], [ "${id}" \\`, { blob: "x".repeat(fill) }] },
    };
    return { title: id, conversation_id: id, current_node: "n", mapping: { n: { message, parent: null } } };
  };
  const write = async (conversations: readonly unknown[]) => {
    const file = join(dir, "conversations.json");
    await writeFile(file, JSON.stringify(conversations));
    return file;
  };

  test("sends whole conversations in shorter lists, and adds up what came of them", async () => {
    const ids = Array.from({ length: 14 }, (_, i) => `c-${i}`);
    const file = await write(ids.map((id) => conversation(id, 5_000_000)));
    const parts: { id: string }[][] = [];
    const ran = await go(["--json", "import", file], {
      application: {
        imports: {
          import: async (_owner, body, { format }) => {
            expect(format).toBe("export");
            const chunks: Uint8Array[] = [];
            for await (const chunk of body) chunks.push(chunk);
            const list = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { conversation_id: string }[];
            parts.push(list.map(({ conversation_id }) => ({ id: conversation_id })));
            const left_out = parts.length === 2 ? [{ pointer: "/1", detail: "Conversation “c-9” (c-9), message m: is over" }] : undefined;
            return { sessions: list.length, messages: list.length, skipped_duplicates: 0, ...(left_out && { left_out }) };
          },
        },
      },
    });
    expect(parts.map((part) => part.length)).toEqual([10, 4]);
    expect(parts.flat().map(({ id }) => id)).toEqual(ids);
    expect(ran.code).toBe(6);
    expect(JSON.parse(ran.stdout)).toEqual({ sessions: 14, messages: 14, skipped_duplicates: 0, left_out: [expect.anything()] });
  });

  test("is checked whole before anything is sent", async () => {
    const good = Array.from({ length: 11 }, (_, i) => conversation(`c-${i}`, 5_000_000));
    const ran = await go(["import", await write([...good, { mapping: 3 }])]);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("Conversation 12: is not a conversation of a ChatGPT export");
  });
});

describe("at a terminal", () => {
  test("an error in a conversation is told, and the conversation goes on", async () => {
    const requests: ChatRequest[] = [];
    const ran = await run(["chat"], { tty: true, stdin: "/nothing\n/forget 9\nhello\n", application: { chat: echoing(requests) } });
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("There is no /nothing.");
    expect(ran.stdout).toContain("Which one?");
    expect(ran.stdout).toContain("You said: hello");
    expect(ran.closed).toBe(1);
  });

  test("erase goes on only when the user's name is typed", async () => {
    const application: Script = { privacy: { erase: async () => RECEIPT } };
    expect((await run(["erase", "--user", "alice"], { tty: true, stdin: "bob\n", application })).code).toBe(2);
    expect((await run(["--user", "alice", "erase"], { tty: true, stdin: "alice\n", application })).code).toBe(0);
  });
});

describe("the storage directory", () => {
  test("that a server owns is said so, with the way through the server", async () => {
    const open = async () => {
      throw new AppError("STORAGE_IN_USE", { detail: "Process 42 on host (since now) is using /data." });
    };
    const file = join(dir, "in");
    await writeFile(file, "[]");
    const readConfig = () => parseConfig({ HOST: "0.0.0.0", PORT: "4811" });
    for (const argv of [["chat", "-m", "hi"], ["import", file], ["export"], ["erase", "--yes"], ["doctor"]]) {
      const parts = { open, readConfig };
      const told = async (given: Partial<CliParts>) => {
        const { stdout, stderr } = await run(argv, { parts: { ...parts, ...given } });
        return stdout + stderr;
      };
      expect(await told({ serverOf: async () => "http://127.0.0.1:9001" }), argv[0]).toMatch(
        /Process 42.*--url http:\/\/127\.0\.0\.1:9001\b/su,
      );
      expect(await told({}), argv[0]).toMatch(/Process 42.*server.*--url http:\/\/127\.0\.0\.1:4811\b/su);
    }
    expect(await run(["--json", "export"], { parts: { open, readConfig } })).toMatchObject({
      code: 4,
      stdout: expect.stringContaining("--url"),
    });
  });

  test("that a server owns is said so by the commands over all users, with the way through it as its operator", async () => {
    const open = async () => {
      throw new AppError("STORAGE_IN_USE", { detail: "Process 42 on host (since now) is using /data." });
    };
    for (const argv of [["reindex"], ["promote"], ["retention", "--dry-run"], ["retention", "--apply"], ["users"]]) {
      const ran = await run(argv, { parts: { open, serverOf: async () => "http://127.0.0.1:9001" } });
      expect(ran.code).toBe(4);
      expect(ran.stderr).toMatch(/Process 42.*--url http:\/\/127\.0\.0\.1:9001, with its OPERATOR_TOKEN/su);
    }
  });

  test("a server that can't be reached, and a bearer token that is sent to one that can", async () => {
    expect(await run(["--url", "http://127.0.0.1:1", "export"])).toMatchObject({ code: 5 });
    expect(await run(["--url", "nonsense", "export"])).toMatchObject({ code: 2 });
    const token = join(dir, "token");
    await writeFile(token, "secret\n");
    const sent: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (_input, init) => {
      sent.push(new Headers(init?.headers).get("authorization"));
      return new Response("{}");
    };
    await run(["--url", "http://127.0.0.1:1", "--token-file", token, "export"], { parts: { fetch } });
    expect(sent).toEqual(["Bearer secret"]);
  });
});

describe("the command line itself", () => {
  test("help tells the exit codes, and unknown commands and options end with 2", async () => {
    const help = await run(["--help"]);
    expect(help.code).toBe(0);
    for (const command of ["chat", "import", "export", "erase", "reindex", "promote", "retention", "doctor"])
      expect(help.stdout).toContain(command);
    expect(help.stdout).toContain("130  interrupted");
    expect((await run(["--version"])).stdout).toBe("1.2.3\n");
    expect((await run(["dance"])).code).toBe(2);
    expect((await run(["chat", "--loud"])).code).toBe(2);
    expect((await run(["retention"])).code).toBe(2);
    expect((await run(["retention", "--apply", "--dry-run"])).code).toBe(2);
  });

  test("an interrupted command ends with 130 and closes what it opened", async () => {
    const controller = new AbortController();
    const ran = await run(["promote"], {
      parts: { signal: controller.signal },
      maintenance: {
        promote: async ({ signal }) => {
          controller.abort();
          signal.throwIfAborted();
          throw new Error("not reached");
        },
      },
    });
    expect(ran).toMatchObject({ code: 130, stderr: "", closed: 1 });
  });
});

test("init asks at a terminal for what the command line doesn't say, and for no secret", async () => {
  const dir = await mkdtemp(join(tmpdir(), "maitred-init-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  const { code, stdout } = await run(["init", dir], { tty: true, stdin: "mistral\nmistral-large\n4200\n" });
  expect([code, stdout]).toEqual([0, expect.stringContaining("Put MISTRAL_API_KEY=… into .env.local")]);
  const env = await readFile(join(dir, ".env"), "utf8");
  expect(env).toContain("PORT=4200\nLLM_PROVIDER=mistral\nLLM_MODEL=mistral-large\n");
  expect(env).not.toMatch(/^[A-Z_]*KEY/m);
  const brokenOff = join(dir, "other");
  expect((await run(["init", brokenOff], { tty: true, stdin: "openai\n" })).code).toBe(130);
  expect(existsSync(brokenOff)).toBe(false);
});
