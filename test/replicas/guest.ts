import { setTimeout as pause } from "node:timers/promises";
import type { ChatAnswer } from "../../src/ports/resources.js";
import type { Cluster } from "./cluster.js";

/** In a row, with 100 ms between: longer than anything is down. */
const MAX_TRIES = 400;
/** Of a thread's newest messages: a turn that failed several times tells of each time behind what was said. */
const MAX_SHOWN = 50;
const AGAIN = new Set([409, 429, 500, 502, 503, 504]);

/** One session of a guest, as its client knows it: what was answered, and what was said of preferences. */
export class Conversation {
  readonly user: string;
  readonly #cluster: Cluster;
  readonly #name: string;
  sessionId: string | null = null;
  /** What the guest said and was answered to, in order. */
  readonly said: string[] = [];
  /** What the guest prefers now. */
  readonly preferences = new Set<string>();
  /** From when a message was sent first until it was answered. */
  longestMs = 0;
  #turns = 0;

  constructor(cluster: Cluster, user: string, name: string) {
    this.#cluster = cluster;
    this.user = user;
    this.#name = name;
  }

  /** One turn; the fourth of each states a preference, the tenth is said again differently. False when the guest was erased. */
  async turn(erased: () => boolean): Promise<boolean> {
    this.#turns += 1;
    const word = `${this.#name}t${this.#turns}`;
    const prefers = this.#turns % 4 === 0;
    const message = prefers ? `I prefer ${word} evenings.` : `Is there any ${word} today`;
    if (!(await this.#say(message, word, {}, erased))) return false;
    this.said.push(message);
    if (prefers) this.preferences.add(preferenceIn(word));
    if (this.#turns % 10 === 0) return this.#edit(word, erased);
    return true;
  }

  /** Forgets one of what this session stated, if any of it is in memory yet. */
  async forget(): Promise<void> {
    const listed = await this.#cluster.ask("GET", "/v1/memories?limit=200", this.user);
    if (listed?.status !== 200) return;
    const { data } = listed.body as { data: { id: string; text: string }[] };
    const one = data.find(({ text }) => this.preferences.has(text));
    if (one === undefined) return;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const gone = await this.#cluster.ask("DELETE", `/v1/memories/${one.id}`, this.user);
      if (gone?.status === 204 || gone?.status === 404) break;
      await pause(100);
    }
    this.preferences.delete(one.text);
  }

  async #edit(word: string, erased: () => boolean): Promise<boolean> {
    const thread = await this.#cluster.ask("GET", `/v1/sessions/${this.sessionId}/messages?order=desc&limit=${MAX_SHOWN}`, this.user);
    if (thread?.status !== 200) return !erased();
    const { data } = thread.body as { data: { id: string; role: string }[] };
    const last = data.find(({ role }) => role === "user");
    if (last === undefined) throw new Error(`${word}: what was said is not in its thread`);
    const message = `Is there any ${word}edited today`;
    if (!(await this.#say(message, `${word}e`, { edit_of: last.id }, erased))) return false;
    // What is said again differently takes back what it said before.
    this.preferences.delete(preferenceIn(word));
    this.said[this.said.length - 1] = message;
    return true;
  }

  /** Until it is answered, under one key. */
  async #say(message: string, key: string, extra: object, erased: () => boolean): Promise<boolean> {
    const from = performance.now();
    const body = { message, ...(this.sessionId !== null && { session_id: this.sessionId }), ...extra };
    for (let tries = 0; tries < MAX_TRIES && !erased(); tries++) {
      const answered = await this.#cluster.ask("POST", "/v1/chat", this.user, { body, key });
      if (answered?.status === 200) {
        this.sessionId = (answered.body as ChatAnswer).session_id;
        this.longestMs = Math.max(this.longestMs, performance.now() - from);
        return true;
      }
      if (answered !== null && !AGAIN.has(answered.status) && !erased()) throw new Error(`${message}: ${JSON.stringify(answered)}`);
      await pause(100);
    }
    if (erased()) return false;
    throw new Error(`${message}: never answered`);
  }
}

function preferenceIn(word: string): string {
  return `Prefers ${word} evenings`;
}
