import { type AlongDue, AlongWithReading } from "../after-turn/along-with-reading.js";
import { LeftTurns } from "../after-turn/deferred-turns.js";
import { willBeRead } from "../after-turn/due-turns.js";
import { measuredWriteBack } from "../after-turn/measured-write-back.js";
import { takeOffRecord } from "../after-turn/off-record.js";
import { OwnerBackgroundWork } from "../after-turn/owner-background-work.js";
import { SummaryKeeper } from "../after-turn/summary.js";
import type { TurnRecording } from "../after-turn/turn-recording.js";
import { CONTEXT_ROUNDS } from "../after-turn/turn-to-remember.js";
import { SessionUpkeep } from "../after-turn/upkeep.js";
import { WriteBack } from "../after-turn/write-back.js";
import { WriteBackWorker } from "../after-turn/write-back-worker.js";
import { callBoundMs } from "../agent/models/speed.js";
import type { Owner } from "../domain/owner.js";
import { HappenedMemories } from "../memories/happened.js";
import type { LeftToReadParts } from "../memories/memories.js";
import { Narrative } from "../memories/narrative.js";
import { CatchingUp } from "../operations/catching-up.js";
import { reindexHistory } from "../operations/reindex.js";
import { AppError, isAppError } from "../platform/errors.js";
import { type TokenCounter, tokenCounterFor } from "../platform/tokens.js";
import type { ChatModel } from "../ports/agent.js";
import { tracedUpkeep, tracedWriteBack } from "../telemetry/traces.js";
import { contextBudget } from "../turn/budget.js";
import { systemPrompt } from "../turn/prompt.js";
import type { TurnRegistry } from "../turn/turn-registry.js";
import type { Answering } from "./agent.js";
import type { Parts } from "./composed.js";
import type { Costs } from "./costs.js";
import type { LongTerm } from "./long-term.js";
import type { ByTenant } from "./tenants.js";
import { type Stores, upkeepGate, type Wiring } from "./wiring.js";

/** Set aside for recall, page context and the message when it is decided which rounds the summary has to cover. */
const VOLATILE_TOKENS = 2_000;

/** How long a try to write a turn back may take beside its readings, in milliseconds. */
const TRY_MS = 60_000;
/** What reading a message takes at most, in tokens: a first and a second time. */
const READINGS = { input: 2 * 4_000, output: 2 * 3_000 };

/** Of a slow model. */
function readingsMs({ models }: Answering): number {
  const speed = models.extraction.measured?.() ?? { inputPerSecond: null, outputPerSecond: null };
  return callBoundMs(0, speed, READINGS);
}

/** What happens once a turn is answered, and what catches up with it. */
export interface AfterTurn {
  readonly upkeep: ByTenant<Upkeep>;
  readonly worker: WriteBackWorker;
  /** What the worker does with a turn. */
  readonly writeBack: Pick<WriteBack, "run">;
  readonly leftTurns: LeftTurns;
  readonly catchUps: OwnerBackgroundWork;
  readonly historyCatchUp: CatchingUp;
  readonly reindex: Parts["reindex"];
  /** Off the record at the word of a message that was read along with another. */
  readonly takeAlongOffRecord: LeftToReadParts["takeOffRecord"];
}

/** What keeps sessions in shape, and what it goes by: the system prompt and the model's window. */
interface Upkeep {
  readonly answering: Answering;
  readonly summaries: SummaryKeeper;
  readonly sessions: SessionUpkeep;
  /** Null where titles and summaries have calls of their own. */
  readonly along: ((owner: Owner, sessionId: string) => Promise<AlongDue | null>) | null;
  readonly counter: TokenCounter;
  /** The system prompt. */
  readonly prompt: string;
  /** Tokens that the messages of a turn may take: tools are counted off. */
  readonly maxTokens: number;
}

export async function composeAfterTurn(
  { config, logger, clock, metrics }: Wiring,
  { store, ledger, writer, lagging }: Stores,
  { longTerm, history, keepsHistory }: LongTerm,
  answering: ByTenant<Answering>,
  { tokens }: Costs,
  {
    registry,
    stopping,
    behaviour,
    recording,
    emptyReceipts,
  }: {
    readonly registry: TurnRegistry;
    readonly stopping: AbortSignal;
    readonly behaviour: Behaviour | null;
    readonly recording: TurnRecording;
    /** Of what is remembered no more. */
    readonly emptyReceipts: (owner: Owner) => Promise<void>;
  },
): Promise<AfterTurn> {
  const common = { store, writer, ledger, tokens, gate: upkeepGate(registry), clock, logger };
  const upkeep = await answering.map(async (each): Promise<Upkeep> => {
    const { models, toolSpecs } = each;
    const counter = await tokenCounterFor(models.chat.name, logger);
    const prompt = systemPrompt(each.prompt);
    const toolTokens = toolSpecs.length === 0 ? 0 : counter.count(JSON.stringify(toolSpecs));
    const maxTokens = contextBudget(config.CONTEXT_MAX_TOKENS, models.chat.contextTokens, toolTokens);
    // One call for both, where it is one model's work.
    const withReadings = (model: ChatModel) => each.readTogether !== null && !model.standIn && model.name === models.extraction.name;
    const never = new AbortController().signal;
    const along = new AlongWithReading();
    const rides = config.MEM0_ENABLED && (withReadings(models.title) || withReadings(models.summary));
    const summaries = new SummaryKeeper(
      { ...common, history, model: models.summary, along, counter },
      {
        windowRounds: config.SHORT_TERM_ROUNDS,
        windowTokens: Math.max(0, maxTokens - config.SUMMARY_MAX_TOKENS - counter.count(prompt) - VOLATILE_TOKENS),
        maxTokens: config.SUMMARY_MAX_TOKENS,
        lockWaitMs: config.SESSION_LOCK_WAIT_MS,
      },
    );
    const sessions = new SessionUpkeep({ ...common, summaries, memories: longTerm, model: models.title, along });
    const dueAlong = async (owner: Owner, id: string) =>
      along.ask(owner, id, {
        title: withReadings(models.title) ? await sessions.titleDue(owner, id, never) : null,
        summary: withReadings(models.summary) ? await summaries.due(owner, id, never) : null,
      });
    return { answering: each, summaries, sessions, along: rides ? dueAlong : null, counter, prompt, maxTokens };
  });
  const describeAnew = async (owner: Owner, id: string, turn: number) => {
    const { summaries, sessions } = upkeep.of(owner);
    await Promise.all([summaries.offRecord(owner, id, turn), emptyReceipts(owner)]);
    // Under the session's lock, which a turn may hold that waits for what was said to be written back.
    void sessions.offRecord(owner, id);
  };
  const asksNotToKeep = (owner: Owner, text: string) => answering.of(owner).asksNotToKeep(text);
  const leftMs = config.EXTRACTION_IDLE_MS - config.EXTRACTION_DELAY_MS;
  const offRecord = { store, writer, history: keepsHistory ? history : null, turns: longTerm, clock };
  const writeBack = new WriteBack(
    {
      ...common,
      longTerm: config.MEM0_ENABLED ? longTerm : null,
      history: keepsHistory ? history : null,
      takeOffRecord: (asked) => takeOffRecord({ ...offRecord, describeAnew }, asked),
      along: async (owner, id) => upkeep.of(owner).along?.(owner, id) ?? null,
      judgeOf: (owner) => answering.of(owner).judgeOfWaiting,
      asksNotToKeep,
    },
    { contextRounds: CONTEXT_ROUNDS, leftMs },
  );
  const catchUps = new OwnerBackgroundWork();
  const reindex: Parts["reindex"] = (options) =>
    reindexHistory({ store, history, during: (owner, signal, work) => catchUps.run(owner, signal, work), logger }, options);
  const historyCatchUp = new CatchingUp(
    "history",
    async () => {
      if (!keepsHistory) return;
      const { failed } = await reindex({ which: "missing", signal: stopping });
      if (failed > 0) throw new AppError("HISTORY_UNAVAILABLE", { detail: `${failed} sessions are not in history.` });
    },
    logger,
  );
  const measured = measuredWriteBack(
    {
      run: (pending, signal) =>
        recording.writeBack(pending, () => tokens.during(pending, () => tracedWriteBack(pending, () => writeBack.run(pending, signal)))),
      fail: (pending, error) => writeBack.fail(pending, error),
    },
    metrics,
  );
  const worker = new WriteBackWorker(
    {
      writeBack: measured,
      store,
      lagging,
      clock,
      logger,
      afterDone: async (owner, id) => {
        // The store of vectors answers: what was out of its reach at the start can be caught up with.
        if (historyCatchUp.state === "failed") void historyCatchUp.run();
        const { sessions, along } = upkeep.of(owner);
        const readingComes = along !== null && (await store.turns.of(owner, id)).some(willBeRead);
        const tend = () => tokens.during({ owner, sessionId: id }, () => sessions.afterTurn(owner, id, { readingComes }));
        await tracedUpkeep(id, async () => Promise.all([tend(), behaviour?.afterTurn(owner, stopping)]));
      },
    },
    { delayMs: config.EXTRACTION_DELAY_MS, leftMs, timeoutMs: () => TRY_MS + Math.max(...answering.all.map(readingsMs)) },
  );
  const leftTurns = new LeftTurns(
    {
      turns: store.turns,
      journal: store.journal,
      asksNotToKeep,
      clock,
      logger,
      preparing: (work) => worker.preparing(work),
    },
    { delayMs: config.EXTRACTION_DELAY_MS },
  );
  const takeAlongOffRecord: AfterTurn["takeAlongOffRecord"] = (owner, { session_id: sessionId, turn }, which, signal) => {
    // A turn that holds the session's lock may wait for this: summary and title are written once they can be.
    const later = async (...args: Parameters<typeof describeAnew>) => void describeAnew(...args);
    return takeOffRecord({ ...offRecord, describeAnew: later }, { owner, sessionId, turn, which, signal });
  };
  return { upkeep, worker, writeBack: measured, leftTurns, catchUps, historyCatchUp, reindex, takeAlongOffRecord };
}

/** What is remembered of a guest without a message that says it. */
interface Behaviour {
  /** After a turn's write-back. Never throws: what was missed is taken up after the next one. */
  afterTurn(owner: Owner, signal: AbortSignal): Promise<void>;
  /** When a session is archived. Never throws. */
  archived(owner: Owner, signal: AbortSignal): Promise<void>;
  /** After memories were forgotten. Never throws. */
  forgotten(owner: Owner, signal: AbortSignal): Promise<void>;
}

/** Null when long-term memory is off. */
export async function composeBehaviour(
  { clock, logger }: Wiring,
  { store }: Stores,
  answering: ByTenant<Answering>,
  { changes }: Pick<LongTerm, "changes">,
  { tokens }: Costs,
): Promise<Behaviour | null> {
  if (changes === null) return null;
  const { records } = answering.rest.domain;
  const happened =
    records?.happened === undefined
      ? null
      : new HappenedMemories({
          changes,
          happened: (owner, after) => records.happened?.(owner, after) ?? nothing(),
          mayKeep: async (owner, sessionId) => (await store.index.get(owner, sessionId))?.metadata.incognito !== true,
        });
  const narratives = await answering.map(
    ({ models, checkProposed, asksNotToKeep }) => new Narrative({ changes, model: models.summary, checkProposed, asksNotToKeep, logger }),
  );
  const now = () => clock.now();
  const counted = (owner: Owner, work: () => Promise<void>) => tokens.during({ owner, sessionId: null }, work);
  return {
    afterTurn: async (owner, signal) => {
      try {
        await happened?.catchUp(owner, { now: now(), signal });
      } catch (error) {
        // At the end of the process it is left for the next start.
        const isExpected = signal.aborted || isAppError(error, "OWNER_ERASED");
        if (!isExpected) logger.warn({ err: error }, "what a guest did could not be remembered yet");
      }
      await counted(owner, () => narratives.of(owner).afterTurn(owner, { now: now(), signal }));
    },
    archived: (owner, signal) => counted(owner, () => narratives.of(owner).archived(owner, { now: now(), signal })),
    forgotten: (owner, signal) => counted(owner, () => narratives.of(owner).forgotten(owner, { now: now(), signal })),
  };
}

async function* nothing() {}
