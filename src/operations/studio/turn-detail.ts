import { partsOf } from "../../domain/answer-part.js";
import type { Owner } from "../../domain/owner.js";
import type { AnswerPart, RecalledMemory } from "../../domain/session.js";
import { type TurnRecord, textHash } from "../../domain/turn-record.js";
import { eachInParallel } from "../../platform/bounded-parallel.js";
import type { Memories } from "../../ports/memories.js";
import type { Tombstone } from "../../ports/owner-ledger.js";
import type { SessionStore } from "../../ports/session-store.js";
import type { ConversationName } from "../../ports/studio.js";
import type { ShownBlock, ShownProposal, ShownRecalled, ShownTiming, TurnDetail } from "../../ports/studio-views.js";
import type { RecordedParts, TurnRecords } from "../../ports/turn-records.js";
import { type ConversationsParts, turnNamed } from "./conversations.js";
import type { ShowText } from "./looks.js";
import { isHidden, type JournalledTurn, turnRow } from "./turns-read.js";

/** What pieces of a prompt were made of, as the journal has it. */
export interface BlockSources {
  readonly owner: Owner;
  readonly question: string;
  readonly pageContext: string | null;
  readonly recalled: readonly RecalledMemory[];
  /** When the turn began. */
  readonly now: Date;
  readonly timeZone: string;
}

export interface TurnDetailParts extends Omit<ConversationsParts, "list"> {
  readonly store: Pick<SessionStore, "index" | "journal" | "turns">;
  readonly records: Pick<TurnRecords, "get">;
  readonly memories: Pick<Memories, "get">;
  /** A prompt's pieces by name, as they are made now: one that was made otherwise has another hash. */
  readonly blocksFrom: (sources: BlockSources) => Readonly<Record<string, string>>;
}

/** One turn, from its record, its journal and the memories that came of it: whatever of them is there. */
export class TurnDetails {
  readonly #parts: TurnDetailParts;

  constructor(parts: TurnDetailParts) {
    this.#parts = parts;
  }

  async one(name: ConversationName, turn: number): Promise<TurnDetail> {
    const { store, records, ledger, show, looks } = this.#parts;
    const { owner, session, journalled } = await turnNamed(store, name, turn);
    await looks.at(owner, "turn");
    const [tombstones, parts, before, pending] = await Promise.all([
      ledger.tombstones(owner),
      records.get(owner, session.id, turn),
      turn > 1 ? records.get(owner, session.id, turn - 1) : null,
      store.turns.of(owner, session.id),
    ]);
    const { recorded, answer } = journalled;
    const { turn: record } = parts;
    const hidden = isHidden(journalled, tombstones);
    const showTurn: ShowText = (field, text) => ({ ...show(field, text), ...(hidden && { [field]: null }) });
    const { incognito = false } = recorded?.user.body ?? {};
    const tokens = answer?.body.metadata.tokens;
    const row = turnRow(journalled, hidden, show);
    return {
      ...row,
      tenant: name.tenant,
      user: name.user,
      session_id: session.id,
      outcome: row.outcome ?? record?.outcome ?? null,
      error_code: row.error_code ?? record?.error_code ?? null,
      memory_status: row.memory_status ?? record?.memory_status ?? null,
      duration_ms: row.duration_ms ?? record?.total_ms ?? null,
      model: answer?.body.metadata.model ?? record?.model ?? null,
      incognito,
      first_token_ms: record?.first_token_ms ?? null,
      prompt_blocks: record && this.#blocks(owner, journalled, record, before?.turn ?? null, tombstones, showTurn),
      recalled: recalledOf(journalled, record, tombstones, showTurn),
      held_back: answer?.body.memory?.held_back ?? record?.held_back ?? null,
      proposals: await this.#proposals(owner, journalled, parts, showTurn),
      parts: shownParts(journalled, hidden || showTurn("text", "").text === null),
      steps: stepsOf(journalled),
      timings: timingsOf(parts),
      usage: tokens
        ? {
            input_tokens: tokens.input_tokens,
            cached_tokens: tokens.cached_tokens ?? null,
            output_tokens: tokens.output_tokens,
            calls: tokens.calls ?? null,
            estimated: tokens.estimated === true,
          }
        : null,
      write_back: writeBackOf(journalled, pending.find((each) => each.turn === turn) ?? null, parts),
    };
  }

  #blocks(
    owner: Owner,
    { recorded, answer }: JournalledTurn,
    { prompt_blocks }: TurnRecord,
    before: TurnRecord | null,
    tombstones: readonly Tombstone[],
    show: ShowText,
  ): readonly ShownBlock[] {
    const recalled = answer?.body.memory?.recalled ?? [];
    const forgotten = new Set(tombstones.map(({ memoryId }) => memoryId));
    const user = recorded?.user;
    const made =
      user === undefined
        ? {}
        : this.#parts.blocksFrom({
            owner,
            question: user.body.content,
            pageContext: user.body.page_context ?? null,
            recalled,
            now: new Date(user.at),
            timeZone: user.body.time_zone ?? "UTC",
          });
    const tellsForgotten = recalled.some(({ id }) => forgotten.has(id));
    return prompt_blocks.map(({ name, tokens, chars, cached, hash }) => {
      const text = made[name];
      const isIts = text !== undefined && textHash(text) === hash && !(name === "memories" && tellsForgotten);
      const same = before === null ? null : before.prompt_blocks.some((block) => block.name === name && block.hash === hash);
      return { name, tokens, cached, text: show("text", isIts ? text : null).text, text_chars: chars, same_as_before: same };
    });
  }

  /** What became of them is told as it was then; their texts are those of now. */
  async #proposals(
    owner: Owner,
    { recorded }: JournalledTurn,
    { reading, writeBack }: RecordedParts,
    show: ShowText,
  ): Promise<readonly ShownProposal[] | null> {
    const proposals = writeBack?.proposals ?? reading?.proposals ?? null;
    if (proposals === null) return null;
    const texts = new Map<string, string>();
    const ids = [...new Set(proposals.flatMap(({ memory_id }) => memory_id ?? []))];
    await eachInParallel(ids, async (id) => {
      const memory = await this.#parts.memories.get(owner, id).catch(() => null);
      if (memory !== null) texts.set(id, memory.text);
    });
    const message = recorded?.user.body.content;
    return proposals.map(({ op, quote_at, outcome, reason, memory_id }) => {
      const text = show("text", memory_id === null ? null : texts.get(memory_id));
      const quote = show("quote", quote_at === null || message === undefined ? null : message.slice(quote_at.start, quote_at.end));
      return { op, ...text, ...quote, outcome, reason, memory_id };
    });
  }
}

function recalledOf(
  { answer }: JournalledTurn,
  record: TurnRecord | null,
  tombstones: readonly Tombstone[],
  show: ShowText,
): readonly ShownRecalled[] | null {
  const memory = answer?.body.memory;
  if (memory === undefined) {
    const unknown = { text: null, text_chars: null, category: null, strength: null, subject: null, used: null };
    return record?.recalled.map((each) => ({ ...unknown, ...each })) ?? null;
  }
  const forgotten = new Set(tombstones.map(({ memoryId }) => memoryId));
  return memory.recalled.map(({ id, text, category, strength, subject = null, why = null, score }) => {
    const shown = show("text", forgotten.has(id) ? null : text);
    return { id, ...shown, category, strength, subject, why, score, used: memory.used.includes(id) };
  });
}

/** The answer's parts, where its text is shown. */
function shownParts({ answer }: JournalledTurn, hidden: boolean): readonly AnswerPart[] | null {
  return answer === null || hidden ? null : partsOf({ ...answer.body, toConfirm: answer.body.memory?.to_confirm });
}

function stepsOf({ recorded, answer }: JournalledTurn): readonly ShownTiming[] {
  const steps = recorded?.steps ?? [];
  const began =
    answer?.body.timing === undefined ? Date.parse(recorded?.user.at ?? "") : Date.parse(answer.at) - answer.body.timing.total_ms;
  return steps.map(({ name, started_at, duration_ms, error }) => ({
    name,
    started_ms: Math.max(0, Date.parse(started_at) - began),
    duration_ms,
    // What a tool says of its failure is text.
    error: error === null ? null : "TOOL_FAILED",
  }));
}

function timingsOf({ turn, writeBack }: RecordedParts): readonly ShownTiming[] | null {
  if (turn === null) return null;
  const timings = turn.timings.map((timing) => ({ ...timing, error: timing.error ?? null }));
  if (writeBack === null) return timings;
  const began = Date.parse(turn.at) - turn.total_ms;
  const { duration_ms, error_code } = writeBack;
  const started_ms = Math.max(0, Date.parse(writeBack.started_at) - began);
  return [...timings, { name: "write_back", started_ms, duration_ms, error: error_code }];
}

function writeBackOf(
  { recorded, writeBack }: JournalledTurn,
  pending: { readonly state: "pending" | "failed"; readonly attempts: number; readonly errorCode: string | null } | null,
  { writeBack: last }: RecordedParts,
): TurnDetail["write_back"] {
  if (pending !== null) return { state: pending.state, attempts: pending.attempts, error_code: pending.errorCode };
  if (writeBack !== null) {
    const { status, attempts, error_code = null } = writeBack;
    return { state: status === "failed" ? "failed" : "done", attempts, error_code: status === "failed" ? error_code : null };
  }
  if (recorded?.user.body.remember === false) return { state: "none", attempts: null, error_code: null };
  return last === null ? null : { state: "done", attempts: last.attempts, error_code: last.error_code };
}
