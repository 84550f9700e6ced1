import { MODEL_TIMEOUT_MS, PATIENT_RECALL_MS, RECALL_DEADLINE_MS } from "./rig.js";

export type Outcome = Readonly<Record<string, string>>;

/** The tables of the page, in their order. */
const PARTS = [
  "Qdrant",
  "Embedder",
  "Model, answering",
  "Model, extracting",
  "Disk",
  "Disk beneath SQLite, memory and history",
  "Disk beneath SQLite, all state but journals",
  "State in PostgreSQL",
  "State in Redis",
  "State in Firestore",
  "State in Cosmos DB",
  "Start on Firestore",
  "Start on Cosmos DB",
  "Chroma",
  "pgvector",
  "Start on pgvector",
] as const;
export type Part = (typeof PARTS)[number];

export interface Row {
  readonly part: Part;
  readonly fault: string;
  readonly expected: Outcome;
  readonly seen: Outcome;
}

const INTRODUCTION = `# What faults do

Written by the tests in \`test/faults\`, which fail when what they see is not what is expected, or not what stands here
(\`npx vitest run --project faults --maxWorkers=1 -u\` writes the page anew).

Each line is one run of the whole product: the real \`mem0ai\`, \`openai\` and \`@qdrant/js-client-rest\` over loopback servers that fail
as they are told to, the file store over a disk that does, RECALL_DEADLINE_MS=${RECALL_DEADLINE_MS} (${PATIENT_RECALL_MS} where
nothing that a recall reads hangs) and MODEL_TIMEOUT_MS=${MODEL_TIMEOUT_MS}. Ada and Bob each have a memory. The fault meets Ada's requests alone; Bob talks at
the same time, in the same process. Then all is mended, without a restart.

- **answered**: the turns under the fault, eight or one. A turn counts as late when it takes longer than its deadlines and much slack;
  what hangs would hang for ever.
- **memory.status**: of these turns, in body and \`X-Memory-Status\` alike.
- **known**: what they still recalled of Ada. Never anything of Bob's.
- **asked**: how many of the last seven of eight turns asked what is broken: the circuit breaker keeps it from being all.
- **kept**: what the journal then holds of the turn.
- **again**: the same request with the same \`Idempotency-Key\`, twice, when all is well.
- **others feel**: whether Bob's turns were all answered in time with \`ok\` and his memories, and were written back while the fault lasted.
- **afterwards**: _all caught up_: every turn is in the journal once, every memory is stored once, nothing is pending, and the
  next turn's status is \`ok\`.

Beneath SQLite, a disk that is full or read-only fails what writes, one that fails or was damaged everything, of Ada's rows alone; a lock
is another process's on the whole file, so Bob's write-back waits as well. \`vectors.db\` is there in the place of Qdrant, with nothing of
it kept in memory. \`state.db\` is what all else is kept in: sessions, ledgers, memory logs, bookings, events. Under **/readyz** is what it
says where the same fault meets everybody: 503 exactly where turns are refused then, of who was there and of somebody new.

Where state lies in a service, the fault meets everybody: one turn in a session that there was and one in a new one, then both again with
their keys. What is named under **/readyz** is what it says; _nothing lost_ means that each message is in the session once. At a start
**says** and **advises** are of the error that ends it, and afterwards the same start finds what was said before. Firestore is Google's
emulator behind a proxy that refuses as the service does, Cosmos DB a stand-in; [engines.md](engines.md) says what they can't show. In front
of Chroma a proxy fails what is asked about Ada; of pgvector a disk that is full fails what is written of Ada, and a server that is gone or
read-only meets everybody.
`;

const HEADINGS: Readonly<Record<string, string>> = { memory: "memory.status", others: "others feel", readyz: "/readyz" };

/**
 * The fault matrix as a page: what each fault should do, and what it did. `seen` is shown only where it is not what was expected. The
 * tables of which there is no row stay as `page` has them.
 */
export function pageWith(rows: readonly Row[], page: string): string {
  const standing = page.split("\n\n## ").slice(1);
  const sections = PARTS.flatMap((part) => {
    const own = rows.filter((row) => row.part === part);
    if (own.length > 0) return [section(part, own)];
    const table = standing.find((each) => each.startsWith(`${part}\n`));
    return table === undefined ? [] : [`## ${table.trimEnd()}`];
  });
  return `${[INTRODUCTION.trimEnd(), ...sections].join("\n\n")}\n`;
}

function section(part: string, rows: readonly Row[]): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row.expected)))];
  const table = [
    ["fault", ...columns.map((column) => HEADINGS[column] ?? column), "as expected"],
    ...rows.map(({ fault, expected, seen }) => {
      const cells = columns.map((column) => cell(expected[column] ?? "–", seen[column] ?? "–"));
      return [fault, ...cells, columns.every((column) => expected[column] === seen[column]) ? "yes" : "**no**"];
    }),
  ];
  const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((text, column) => text.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [headings = "", ...lines] = table.map(line);
  return [`## ${part}`, "", headings, line(widths.map((width) => "-".repeat(width))), ...lines].join("\n");
}

function cell(expected: string, seen: string): string {
  return expected === seen ? expected : `expected ${expected}; seen **${seen}**`;
}
