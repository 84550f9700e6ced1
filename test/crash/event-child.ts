import { compose } from "../../src/compose/compose.js";
import { parseConfig } from "../../src/compose/config.js";
import { ownerOf } from "../../src/domain/owner.js";
import { isAppError } from "../../src/platform/errors.js";
import { BEGINNING, type ToldEvent } from "../../src/ports/events.js";

/** The process that is killed: Maitred on one store, doing one thing after the other for some users, and delivering what it tells. */

export interface EventJob {
  /** Which store it is on. */
  readonly variables: Readonly<Record<string, string>>;
  readonly url: string;
  readonly secret: string;
  readonly users: readonly string[];
  /** Does nothing more, waits until all is delivered, and tells everything that is listed. */
  readonly finish: boolean;
}

/** Something that was done and answered: the event that must tell of it. */
export interface Done {
  readonly user: string;
  readonly type: string;
  readonly subject: string;
}

export type EventChildSays = { readonly done: Done } | { readonly listed: readonly ToldEvent[] };

/** What is asked for again, and after how long. */
const AGAIN_MS = 20;
const UNANSWERED: readonly string[] = ["STORAGE_UNAVAILABLE", "SESSION_BUSY", "LONG_TERM_MEMORY_UNAVAILABLE"];
const WAITS_MS = Array.from({ length: 1_000 }, () => 20);

function say(said: EventChildSays): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function main({ variables, url, secret, users, finish }: EventJob): Promise<void> {
  const config = parseConfig({
    ...variables,
    WEBHOOK_URL: url,
    WEBHOOK_SECRET: secret,
    MEMORY_EMBEDDING_DIMENSIONALITY: "32",
    LLM_PROVIDER: "offline",
  });
  const maitred = await compose(config, { webhooks: { waitsMs: WAITS_MS } });
  if (!finish) {
    await Promise.all(users.map((user) => live(maitred, user)));
    return;
  }
  while (!(await maitred.readiness()).parts.webhooks?.detail?.startsWith("0 events")) await new Promise((done) => setTimeout(done, 50));
  const listed: ToldEvent[] = [];
  for (let after = BEGINNING; ; ) {
    const { data } = await maitred.events.list("all", { after, limit: 200 });
    listed.push(...data);
    if (data.length === 0) break;
    after = data.at(-1)?.id ?? after;
  }
  say({ listed });
  await maitred.close();
}

/** Until it is killed. */
async function live(maitred: Awaited<ReturnType<typeof compose>>, user: string): Promise<void> {
  for (let round = 0; ; round += 1) {
    try {
      await once(maitred, user, round);
    } catch (error) {
      // A machine that is busy with something else, or a lock that a killed process left: what was not answered need not be told.
      if (!isAppError(error) || !UNANSWERED.includes(error.code)) throw error;
      // A connection that was lost is made again by timers, which a loop without a pause would starve.
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}

async function once(maitred: Awaited<ReturnType<typeof compose>>, user: string, round: number): Promise<void> {
  const owner = ownerOf("default", user);
  const done = (type: string, subject: string) => say({ done: { user, type, subject } });
  const { id } = await maitred.sessions.create(owner, {});
  done("session.created", id);
  const answer = await maitred.chat.chat({ owner, sessionId: id, message: "Good evening." });
  done("turn.completed", answer.message.id);
  const now = new Date();
  const memory = await maitred.memories.add(owner, { text: `Prefers box ${process.pid} ${round}`, category: "other" }, { now });
  done("memory.added", memory.id);
  await maitred.memories.forget(owner, memory.id, { now: new Date() });
  done("memory.forgotten", memory.id);
  await maitred.sessions.patch(owner, id, { status: "archived" });
  done("session.archived", id);
  await maitred.sessions.delete(owner, id);
  done("session.deleted", id);
  if (round % 2 === 1) return;
  await maitred.sessions.purge(owner, id, { keepMemories: true, by: "user" });
  done("session.purged", id);
}

await main(JSON.parse(process.argv[2] ?? "") as EventJob);
