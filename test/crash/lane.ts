import { cp } from "node:fs/promises";
import type { ChatAnswer } from "../../src/ports/resources.js";
import { checkEnd, checkJournals, checkStart, type Told } from "./checks.js";
import { runChild } from "./child-process.js";
import type { Armed } from "./fault-points.js";
import type { ChildEvent, Disk, Job, SeenAtEnd } from "./job.js";
import { type JournalOnDisk, readJournals } from "./journals-on-disk.js";
import { stepOf } from "./script.js";

/** Answers that are asked for again at the end, newest first. */
const REPLAYS = 12;

export type Life = Pick<Job, "disk"> & Partial<Pick<Job, "armed" | "bug" | "steps" | "paced" | "rebuild">>;

/**
 * One storage directory and the processes that live and die on it, one after the other. It keeps what clients were told, and
 * after each death and each start looks whether it still holds.
 */
export class Lane {
  readonly dir: string;
  readonly #program: string;
  readonly #positions: Map<string, number>;
  readonly #sessions: Map<string, Map<number, string>>;
  readonly #editable: Map<string, Map<number, string>>;
  #answers: { user: string; position: number; answer: ChatAnswer }[] = [];
  readonly #taken = new Set<string>();
  readonly #erased = new Set<string>();
  #journals: readonly JournalOnDisk[] = [];
  #lives = 0;
  kills = 0;
  /** All that was wrong, with the life before it. */
  readonly violations: string[] = [];

  constructor(program: string, dir: string, users: readonly string[]) {
    this.#program = program;
    this.dir = dir;
    this.#positions = new Map(users.map((user) => [user, 0]));
    this.#sessions = new Map(users.map((user) => [user, new Map()]));
    this.#editable = new Map(users.map((user) => [user, new Map()]));
  }

  get told(): Told {
    return { answers: this.#answers, positions: this.#positions, sessions: this.#sessions, taken: this.#taken };
  }

  /** A process that goes on with the script until it is killed, by itself or by `onEvent`. False when it came to its end alive. */
  async live(life: Life, onEvent?: (event: ChildEvent, kill: () => void) => void): Promise<boolean> {
    const { killed } = await this.#run({ ...life, finish: null }, life.armed?.point ?? "", onEvent);
    if (killed) this.kills += 1;
    return killed;
  }

  /** A process that ends what was begun, drains the write-back, and looks at everything. */
  async finish(
    disk: Disk,
    { steps = 1, bug = null, rebuild = false }: Partial<Pick<Job, "steps" | "bug" | "rebuild">> = {},
  ): Promise<SeenAtEnd> {
    const replay = this.#answers
      .filter(({ user, position, answer }) => !this.#taken.has(answer.session_id) && !isReplaced(user, position))
      .slice(-REPLAYS)
      .map(({ user, position }) => ({ user, position }));
    const { events } = await this.#run({ disk, steps, bug, rebuild, finish: { replay, erased: [...this.#erased] } }, "the end");
    const finished = events.find((event) => event.event === "finished");
    if (finished?.event !== "finished") throw new Error("The last process did not say what it saw.");
    this.#report("at the end", checkEnd(finished.seen, this.#journals, this.told));
    return finished.seen;
  }

  /** A process that erases a user, whom nothing is promised from here on. False when it came to its end alive. */
  async erase(user: string, armed: Armed): Promise<boolean> {
    this.#positions.delete(user);
    this.#answers = this.#answers.filter((answer) => answer.user !== user);
    this.#erased.add(user);
    const { killed } = await this.#run({ disk: "forgetting", armed, steps: 0, erase: user, finish: null }, armed.point);
    if (killed) this.kills += 1;
    return killed;
  }

  /** The same directory as it is now, in another place, to go on with in another way. */
  async copy(dir: string): Promise<Lane> {
    await cp(this.dir, dir, { recursive: true });
    const copy = new Lane(this.#program, dir, []);
    for (const [user, position] of this.#positions) copy.#positions.set(user, position);
    for (const [user, sessions] of this.#sessions) copy.#sessions.set(user, new Map(sessions));
    for (const [user, editable] of this.#editable) copy.#editable.set(user, new Map(editable));
    for (const id of this.#taken) copy.#taken.add(id);
    copy.#answers = [...this.#answers];
    copy.#journals = this.#journals;
    return copy;
  }

  async #run(
    life: Life & Pick<Job, "finish"> & Partial<Pick<Job, "erase">>,
    name: string,
    onEvent: (event: ChildEvent, kill: () => void) => void = () => {},
  ) {
    this.#lives += 1;
    const before = this.#journals;
    const job: Job = {
      armed: null,
      bug: null,
      steps: 40,
      paced: false,
      rebuild: false,
      erase: null,
      ...life,
      dir: this.dir,
      seed: this.#lives,
      tracks: [...this.#positions].map(([user, position]) => ({
        user,
        position,
        sessions: Object.fromEntries(this.#sessions.get(user) ?? []),
        editable: Object.fromEntries(this.#editable.get(user) ?? []),
      })),
    };
    const end = await runChild(this.#program, job, (event, kill) => {
      this.#hear(event);
      onEvent(event, kill);
    });
    const open = end.events.find((event) => event.event === "open");
    if (open?.event === "open") this.#report(`at start ${this.#lives}`, checkStart(open.seen, before, this.told));
    this.#journals = await readJournals(this.dir);
    this.#report(`after ${this.#lives}, ${name}`, checkJournals(this.#journals, this.told));
    return end;
  }

  #hear(event: ChildEvent): void {
    if (event.event === "taking") {
      if (event.memoryId !== undefined) this.#taken.add(event.memoryId);
      if (event.sessionId !== undefined) this.#taken.add(event.sessionId);
    }
    if (event.event !== "answered" && event.event !== "taken") return;
    const { user, position } = event;
    this.#positions.set(user, position + 1);
    if (event.event === "taken") return;
    const { block } = stepOf(user, position);
    this.#answers.push({ user, position, answer: event.answer });
    this.#sessions.get(user)?.set(block, event.answer.session_id);
    this.#editable.get(user)?.set(block, event.messageId);
  }

  #report(when: string, found: readonly string[]): void {
    this.violations.push(...found.map((each) => `${when}: ${each}`));
  }
}

/** An answer whose question was said again differently is not to be had again. */
function isReplaced(user: string, position: number): boolean {
  const next = stepOf(user, position + 1);
  return next.kind === "say" && next.edits;
}
