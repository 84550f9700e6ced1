import { describe, expect, test } from "vitest";
import { AppError } from "../../src/platform/errors.js";
import type { Page } from "../../src/ports/session-store.js";
import type { Script } from "../support/fake-application.js";
import { MEMORY_ID, SESSION_ID, sampleAnswer, sampleMemory, sampleSession } from "../support/samples.js";
import { type RunOptions, run, runRemote } from "./run.js";

function page<T>(...data: readonly T[]): Page<T> {
  return { data: [...data], nextCursor: null };
}

const LISTED = sampleMemory({ strength: "hard" });
const message = (role: "user" | "assistant", content: string) => ({
  id: MEMORY_ID,
  turn: 1,
  role,
  content,
  created_at: LISTED.stated_at,
  metadata: {},
});

describe.each([
  ["on the storage directory", run],
  ["through a server's API", runRemote],
] as const)("%s", (_where, go: (argv: readonly string[], options?: RunOptions) => ReturnType<typeof run>) => {
  test("memories lists what is remembered with its ids, and looks for words", async () => {
    const memories: Script["memories"] = {
      list: async () => page(LISTED),
      search: async (_owner, { text }) => (text === "quiet rows" ? [{ ...LISTED, score: 0.9 }] : []),
    };
    expect((await go(["memories"], { application: { memories } })).stdout).toBe(
      `${MEMORY_ID}  Likes the quiet rows at the back (seating, must hold)\n`,
    );
    expect((await go(["memories", "list", "quiet", "rows"], { application: { memories } })).stdout).toContain(MEMORY_ID);
    expect((await go(["memories", "list", "zzzz"], { application: { memories } })).stdout).toBe("Nothing that is remembered fits.\n");
    const json = await go(["--json", "memories"], { application: { memories } });
    expect(JSON.parse(json.stdout)).toMatchObject({ id: MEMORY_ID });
  });

  test("memories add keeps what is said, hard where that is asked for; blank words are refused", async () => {
    const added: unknown[] = [];
    const add: NonNullable<Script["memories"]>["add"] = async (_owner, statement) => {
      added.push([statement.text, statement.strength ?? "soft"]);
      return sampleMemory({ text: statement.text });
    };
    const ran = await go(["memories", "add", "--hard", "No", "nuts"], { application: { memories: { add } } });
    expect(ran.stdout).toBe("Remembered: No nuts\n");
    await go(["memories", "add", "Window seats"], { application: { memories: { add } } });
    expect(await go(["memories", "add", "  "], { application: { memories: { add } } })).toMatchObject({ code: 2, stdout: "" });
    expect(added).toEqual([
      ["No nuts", "hard"],
      ["Window seats", "soft"],
    ]);
  });

  test("memories why shows the words behind one, memories forget takes it away; an unknown one ends with 3", async () => {
    const forgotten: string[] = [];
    const application: Script = {
      memories: {
        get: async () => sampleMemory(),
        forget: async (_owner, id) => {
          forgotten.push(id);
          return [];
        },
      },
      sessions: { message: async () => ({ ...message("user", "I like the quiet rows\u001b[2J"), metadata: null as never }) },
    };
    const why = await go(["memories", "why", MEMORY_ID], { application });
    expect(why.stdout).toContain("You said: “I like the quiet rows[2J”");
    expect((await go(["memories", "forget", MEMORY_ID], { application })).stdout).toBe("Forgotten.\n");
    expect(forgotten).toEqual([MEMORY_ID]);
  });

  test("sessions lists, shows and deletes conversations", async () => {
    const deleted: string[] = [];
    const sessions: Script["sessions"] = {
      list: async () => page(sampleSession({ title: "Jazz" })),
      messages: async () => page(message("assistant", "Gladly.") as never, message("user", "Jazz tonight?") as never),
      delete: async (_owner, id) => {
        deleted.push(id);
      },
    };
    expect((await go(["sessions"], { application: { sessions } })).stdout).toContain(`${SESSION_ID} Jazz`);
    expect((await go(["sessions", "show", SESSION_ID], { application: { sessions } })).stdout).toBe(
      "You: Jazz tonight?\nMaitred: Gladly.\n",
    );
    expect((await go(["sessions", "delete", SESSION_ID], { application: { sessions } })).stdout).toContain("Deleted.");
    expect(deleted).toEqual([SESSION_ID]);
  });

  test.each([
    [["memories", "why", "x"], "maitred memories"],
    [["memories", "forget", "Wheelchair"], "maitred memories"],
    [["sessions", "show", "1"], "maitred sessions"],
    [["sessions", "delete", "nope"], "maitred sessions"],
  ])("what is no id is refused in words of the command line: %j", async (argv, list) => {
    const ran = await go(argv);
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toBe(`"${argv[2]}" is no id.\nGive one as \`${list}\` shows it, whole.\n`);
  });

  test("what is not there is told without the paths of the HTTP API, to a program too", async () => {
    const forget = async () => {
      throw new AppError("MEMORY_NOT_FOUND");
    };
    const ran = await go(["memories", "forget", MEMORY_ID], { application: { memories: { forget } } });
    expect(ran).toMatchObject({ code: 3, stderr: "There is no such memory\n`maitred memories` lists what is remembered.\n" });
    const json = await go(["--json", "memories", "forget", MEMORY_ID], { application: { memories: { forget } } });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: "MEMORY_NOT_FOUND", hint: expect.not.stringContaining("/v1") } });
  });

  test("in a pipe a command that fails is told, the lines after it are said, and the exit code tells of it", async () => {
    const said: string[] = [];
    const application: Script = {
      chat: {
        chat: async ({ message: text }) => {
          said.push(text);
          return sampleAnswer();
        },
      },
      memories: { list: async () => page(LISTED), forget: async () => [] },
      sessions: { flush: async () => ({ pending_turns: 0, failed_turns: 0 }) },
    };
    const stdin = "/forget bees\nhello\n/nothing\n/memories\n/forget 1\nbye\n";
    const ran = await go(["chat"], { stdin, application });
    expect([ran.code, said]).toEqual([1, ["hello", "bye"]]);
    expect(ran.stderr).toContain("Which one?\nGive its number as /memories shows it, or its id.");
    expect(ran.stderr).toContain("There is no /nothing.");
    expect(ran.stdout).toContain("Forgotten.");
    const json = await go(["--json", "chat"], { stdin, application });
    const documents = json.stdout.trim().split("\n");
    expect(documents.map((line) => (JSON.parse(line) as { error?: { code: string } }).error?.code ?? "done")).toEqual([
      "INVALID_REQUEST",
      "done",
      "INVALID_REQUEST",
      "done",
      "done",
      "done",
    ]);
    expect([json.code, json.stderr]).toEqual([1, ""]);
    const mistyped = await go(["chat"], { stdin: "/bogus\n/quit\n", application });
    expect([mistyped.code, mistyped.stderr]).toEqual([0, expect.stringContaining("There is no /bogus.")]);
  });

  test("in a conversation /memories waits for what was just said, /why and /remember work on it, and /help names all of them", async () => {
    const order: string[] = [];
    const application: Script = {
      chat: { chat: async () => sampleAnswer() },
      sessions: {
        flush: async (_owner, id) => {
          order.push(`flush ${id}`);
          return { pending_turns: 0, failed_turns: 0 } as never;
        },
        message: async () => null,
      },
      memories: {
        list: async () => {
          order.push("list");
          return page(LISTED);
        },
        get: async () => sampleMemory({ source: null }),
        add: async (_owner, { text }) => sampleMemory({ text }),
      },
    };
    const ran = await go(["chat"], { stdin: "/memories\nhello\n/memories\n/why 1\n/remember Aisle seats\n/help\n", application });
    expect(order).toEqual(["list", `flush ${SESSION_ID}`, "list"]);
    expect(ran.stdout).toContain("Stated by hand.");
    expect(ran.stdout).toContain("Remembered: Aisle seats");
    for (const name of ["/memories", "/why <number>", "/remember <text>", "/confirm", "/help", "/quit"]) expect(ran.stdout).toContain(name);
    expect(ran.stderr).toBe("");
  });
});

test("at a terminal a banner names user, model and store, before the first message", async () => {
  const ran = await run(["--user", "ada", "chat"], { tty: true, stdin: "/quit\n", application: { info: { storageDir: "/data/maitred" } } });
  expect(ran.stdout).toContain("Maitred for ada · scripted · /data/maitred");
  expect((await run(["chat"], { stdin: "/quit\n" })).stdout).toBe("");
});

test("help of a command names --user and --url, and that of import what a line holds", async () => {
  const { stdout } = await run(["import", "--help"]);
  expect(stdout).toContain("--user <id>");
  expect(stdout).toContain("--url <url>");
  const [line = ""] = stdout.split("\n").filter((each) => each.trim().startsWith("{"));
  expect(JSON.parse(line)).toMatchObject({ session_id: expect.any(String), role: "user", content: expect.any(String) });
});

test("what the system refuses is told without its code", async () => {
  const open = () => Promise.reject(Object.assign(new Error("EACCES: permission denied, mkdir '/data'"), { code: "EACCES" }));
  expect((await run(["export"], { parts: { open } })).stderr).toBe("permission denied, mkdir '/data'\n");
});
