import { isAnswer } from "../../domain/recorded-turn.js";
import type { JournalRecord, MessageRecord, RecordOf, Round, Step } from "../../domain/session.js";
import type { WindowRead } from "../../ports/session-store.js";

/**
 * Puts the last rounds together from records that come newest first.
 *
 * The newest completed answer of a turn makes its round, with the turn's user message and the steps since the turn's
 * message before that answer: steps of an attempt that failed don't get into the one that worked. Rounds are in the
 * order of their answers. An answer whose user message is lost makes no round. Where an agent elsewhere leads the conversation, what it
 * said before its answer is part of the round too.
 */
class RoundCollector {
  readonly #wanted: number;
  /** Newest first. */
  readonly #rounds: OpenRound[] = [];
  readonly #byTurn = new Map<number, OpenRound>();
  #lastUserMessage: MessageRecord | null = null;

  constructor(wanted: number) {
    this.#wanted = wanted;
  }

  /** True when no older record can change the outcome. */
  get complete(): boolean {
    if (this.#lastUserMessage === null || this.#rounds.length < this.#wanted) return false;
    return this.#rounds.every((round, index) => index >= this.#wanted || round.user !== null);
  }

  get lastUserMessage(): MessageRecord | null {
    return this.#lastUserMessage;
  }

  add(record: JournalRecord): void {
    if (record.type === "step") this.#step(record);
    else if (record.type === "message") this.#message(record);
  }

  /** Oldest first. */
  rounds(): Round[] {
    const found = this.#rounds.flatMap(({ user, steps, interim, assistant }) =>
      user === null
        ? []
        : [
            {
              ...{ turn: assistant.turn, user, steps: steps.toReversed(), assistant },
              ...(interim.length > 0 && { interim: interim.toReversed() }),
            },
          ],
    );
    return found.slice(0, this.#wanted).toReversed();
  }

  #step(record: RecordOf<"step">): void {
    const round = this.#byTurn.get(record.turn);
    if (round?.takesSteps === true) round.steps.push(record.body);
  }

  #message(record: MessageRecord): void {
    if (record.body.role === "user") this.#user(record);
    const round = this.#byTurn.get(record.turn);
    if (round !== undefined && record.body.ingested === true && record.body.role !== "user") {
      if (round.user === null && record.body.role === "assistant" && record.body.content !== "") round.interim.push(record);
    } else if (round !== undefined) round.takesSteps = false;
    else if (isAnswer(record)) {
      const opened = { assistant: record, user: null, steps: [], interim: [], takesSteps: true };
      this.#rounds.push(opened);
      this.#byTurn.set(record.turn, opened);
    }
  }

  #user(record: MessageRecord): void {
    this.#lastUserMessage ??= record;
    const round = this.#byTurn.get(record.turn);
    if (round !== undefined) round.user ??= record;
    this.#dropOrphans(record.turn);
  }

  /** User messages come in the order of their turns: one of an older turn says that those of newer turns are lost. */
  #dropOrphans(turn: number): void {
    for (const round of this.#rounds.filter((open) => open.user === null && open.assistant.turn > turn))
      this.#rounds.splice(this.#rounds.indexOf(round), 1);
  }
}

/**
 * The rounds and the last user message of a window, out of records that stand and come newest first, by the block: as few as it takes.
 * `summary`: the newest that was met on the way; null: it lies further back, or there is none.
 */
export async function windowIn(
  blocks: AsyncIterable<Iterable<JournalRecord>> | Iterable<Iterable<JournalRecord>>,
  rounds: number,
): Promise<Pick<WindowRead, "rounds" | "lastUserMessage" | "summary">> {
  const collector = new RoundCollector(rounds);
  let summary: RecordOf<"summary"> | null = null;
  reading: for await (const records of blocks)
    for (const record of records) {
      if (record.type === "summary") summary ??= record;
      collector.add(record);
      if (collector.complete) break reading;
    }
  return { rounds: collector.rounds(), lastUserMessage: collector.lastUserMessage, summary };
}

interface OpenRound {
  readonly assistant: MessageRecord;
  user: MessageRecord | null;
  readonly steps: Step[];
  readonly interim: MessageRecord[];
  takesSteps: boolean;
}
