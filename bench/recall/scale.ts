import { ownerOf } from "../../src/domain/owner.js";
import { derivedId } from "../../src/platform/ids.js";
import type { HistoryMessage } from "../../src/ports/resources.js";
import { quantile } from "../quantile.js";
import type { Fixture } from "./fixture.js";

const TURNS_OF_ONE = 3_000;
const TURNS_OF_OTHERS = 300_000;
const TURNS_OF_EACH_OTHER = 1_000;
const TURNS_OF_A_SESSION = 50;
const QUERIES = 1_000;
/** Before what is measured: a server has been running for longer than that. */
const WARM_UP = 200;

/** Query times of one user with 3,000 turns among 300,000 of 300 others; text is made of words with a Zipf distribution. */
export async function measureAtScale(fixture: Fixture, report: (line: string) => void): Promise<void> {
  const random = mulberry32(42);
  const one = ownerOf("bench", "one");
  const fill = async (user: string, turns: number) => {
    const owner = ownerOf("bench", user);
    for (let start = 0; start < turns; start += TURNS_OF_A_SESSION)
      await fixture.history.addEvents(owner, session(user, start, Math.min(TURNS_OF_A_SESSION, turns - start), random));
  };
  const started = performance.now();
  for (let i = 0; i < TURNS_OF_OTHERS / TURNS_OF_EACH_OTHER; i++) {
    await fill(`other-${i}`, TURNS_OF_EACH_OTHER);
    if (i % 25 === 24) report(`  ${(i + 1) * TURNS_OF_EACH_OTHER} turns of others, ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  await fill("one", TURNS_OF_ONE);
  const times: number[] = [];
  for (let i = 0; i < QUERIES + WARM_UP; i++) {
    const query = sentence(6, random);
    const start = performance.now();
    await fixture.history.search(one, { query });
    if (i >= WARM_UP) times.push(performance.now() - start);
  }
  report(
    `${TURNS_OF_ONE} turns of one user among ${TURNS_OF_OTHERS}: p50 ${quantile(times, 0.5).toFixed(2)} ms, p95 ${quantile(times, 0.95).toFixed(2)} ms a query; ` +
      `${((await fixture.indexBytes()) / 1024 ** 2).toFixed(0)} MiB`,
  );
}

function session(user: string, start: number, length: number, random: () => number): HistoryMessage[] {
  const sessionId = derivedId("session", user, start);
  return Array.from({ length }, (_, position) => ({
    message_id: derivedId("message", user, start + position),
    session_id: sessionId,
    turn: Math.floor(position / 2) + 1,
    position,
    role: position % 2 === 0 ? "user" : "assistant",
    name: null,
    content: sentence(8 + Math.floor(random() * 24), random),
    channel: "bench",
    created_at: new Date(Date.UTC(2025, 0, 1) + (start + position) * 3_600_000).toISOString(),
  }));
}

/** Of 20,000 made-up words, the k-th about 1/k as frequent as the first. */
function sentence(words: number, random: () => number): string {
  return Array.from({ length: words }, () => word(Math.floor(20_000 ** random()))).join(" ");
}

function word(rank: number): string {
  let text = "";
  for (let rest = rank + 20; rest > 0; rest = Math.floor(rest / 21)) text += `${"bcdfghjklmnpqrstvwxyz"[rest % 21]}${"aeiou"[rest % 5]}`;
  return text;
}

function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
