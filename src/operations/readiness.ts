import type { CostLimits } from "../agent/cost-limits.js";
import { within } from "../platform/bounded-signal.js";
import type { Clock } from "../platform/clock.js";
import type { ApplicationInfo } from "../ports/application.js";
import type { ChatModel, ModelMeasure } from "../ports/chat-model.js";
import type { StorageHealth } from "../ports/health-history.js";
import type { ConversationHistory } from "../ports/history.js";
import type { MemoryAdministration } from "../ports/memories.js";
import type { Backlog } from "../ports/metrics.js";
import type { PartStatus, Readiness } from "../ports/resources.js";
import type { PendingTurns } from "../ports/session-store.js";
import type { SessionsBehind } from "../ports/session-writer.js";
import type { CatchingUp } from "./catching-up.js";

export interface ReadinessParts {
  readonly storage: StorageHealth;
  readonly longTerm: Pick<MemoryAdministration, "health">;
  readonly history: Pick<ConversationHistory, "health">;
  readonly turns: Pick<PendingTurns, "counts">;
  readonly lagging: Pick<SessionsBehind, "count">;
  readonly indexCatchUp: Pick<CatchingUp, "state">;
  readonly historyCatchUp: Pick<CatchingUp, "state">;
  readonly model: Pick<ChatModel, "name" | "standIn" | "measured">;
  /** What is wrong with those that answer and those that read, for a person. */
  readonly modelProblems: () => readonly string[];
  readonly embedder: ApplicationInfo["embedder"];
  /** Null where no event is delivered. */
  readonly deliveries: (() => Promise<{ readonly waiting: number; readonly dead: number }>) | null;
  /** Null where nothing limits what models cost. */
  readonly costs: Pick<CostLimits, "reached"> | null;
}

type Part = Readiness["parts"][string];

/** Bound of each part's own look, in milliseconds: a little more than those that have one of their own take, and tell why. */
const LOOK_MS = 2_500;

/** How each part does. The whole is `down` only when turns can't be answered; what memory lacks makes it `degraded`. */
export async function readinessOf(parts: ReadinessParts): Promise<Readiness> {
  const [storage, longTerm, history, writeBack] = await Promise.all([
    look(parts.storage.health()),
    look(parts.longTerm.health()),
    look(parts.history.health()),
    look(writeBackPart(parts.turns)),
  ]);
  const reported: Record<string, Part> = {
    short_term: storage.status === "ok" ? shortTermPart(parts) : storage,
    write_back: writeBack,
    long_term: longTerm,
    history: history.status === "ok" ? catchUpPart(parts.historyCatchUp.state, "the history index") : history,
    model: modelPart(parts),
    embedder: embedderPart(parts.embedder),
    ...(parts.deliveries !== null && { webhooks: await look(webhookPart(parts.deliveries)) }),
    ...(parts.costs !== null && { cost: await look(costPart(parts.costs)) }),
  };
  return { status: overall(reported), parts: reported };
}

function overall(parts: Readonly<Record<string, Part>>): PartStatus {
  if (parts.short_term?.status === "down" || parts.write_back?.status === "down") return "down";
  return Object.values(parts).some(({ status }) => status === "degraded" || status === "down") ? "degraded" : "ok";
}

function modelPart({ model, modelProblems }: ReadinessParts): Part {
  const problems = modelProblems();
  const measured = measuredWords(model.measured?.() ?? null);
  const told = [...problems, model.standIn ? `${model.name}: a stand-in` : measured].filter((part) => part !== null);
  return { status: problems.length === 0 ? "ok" : "degraded", ...(told.length > 0 && { detail: told.join("; ") }) };
}

function embedderPart({ id, dimension, lexical, remote, problem, afterReindex }: ApplicationInfo["embedder"]): Part {
  const what = `${id}: ${dimension} numbers, ${lexical ? "a stand-in that compares words" : remote ? "remote" : "local"}`;
  if (afterReindex !== undefined) return { status: "ok", detail: `${what}; \`maitred reindex\` goes over to ${afterReindex}` };
  return problem === null ? { status: "ok", detail: what } : { status: "degraded", detail: `${what}. ${problem}` };
}

async function webhookPart(deliveries: NonNullable<ReadinessParts["deliveries"]>): Promise<Part> {
  const { waiting, dead } = await deliveries();
  if (dead > 0) return { status: "degraded", detail: `${dead} events could not be delivered and can be repeated, ${waiting} wait` };
  return { status: "ok", detail: `${waiting} events wait` };
}

async function costPart(costs: NonNullable<ReadinessParts["costs"]>): Promise<Part> {
  const { past, until } = await costs.reached();
  if (past.length === 0) return { status: "ok" };
  const told = past.map(({ tenants, variable }) => `${tenants} tenants are past ${variable}`);
  return { status: "degraded", detail: `${told.join(", ")} until ${until}` };
}

function catchUpPart(state: CatchingUp["state"], what: string): Part {
  if (state === "running") return { status: "degraded", detail: `${what} is catching up with the journals` };
  return state === "failed" ? { status: "degraded", detail: `${what} could not catch up with the journals` } : { status: "ok" };
}

function shortTermPart({ indexCatchUp, lagging: { count } }: ReadinessParts): Part {
  const part = catchUpPart(indexCatchUp.state, "the session index");
  if (part.status !== "ok" || count === 0) return part;
  return { status: "degraded", detail: `the index of ${count} sessions could not follow their journals; it is tried again` };
}

async function writeBackPart(turns: ReadinessParts["turns"]): Promise<Part> {
  const { pending, failed } = await turns.counts();
  if (failed > 0) return { status: "degraded", detail: `${failed} turns failed and can be retried, ${pending} are pending` };
  return { status: "ok", detail: `${pending} turns are pending` };
}

async function look(part: Promise<Part>): Promise<Part> {
  try {
    return await within(LOOK_MS, part, { status: "down" as const, detail: "gave no answer in time" });
  } catch {
    return { status: "down", detail: "could not be looked at" };
  }
}

/** What was measured of a model, for a person, and since when that is so; null where nothing was. */
function measuredWords(measure: ModelMeasure | null): string | null {
  if (measure === null) return null;
  const { contextTokens, inputPerSecond, outputPerSecond, measuredAt = null } = measure;
  const told = [
    contextTokens === null ? null : `${contextTokens.toLocaleString("en")} tokens at once`,
    inputPerSecond === null ? null : `reads ${perSecond(inputPerSecond)}`,
    outputPerSecond === null ? null : `writes ${perSecond(outputPerSecond)}`,
  ].filter((part) => part !== null);
  if (measuredAt === null || told.length === 0) return null;
  return `${told.join(", ")} (measured since ${measuredAt.slice(0, "2027-03-28T09:05".length).replace("T", " ")} UTC)`;
}

function perSecond(tokens: number): string {
  return `${Math.max(1, Math.round(tokens)).toLocaleString("en")} tokens a second`;
}

export interface BacklogParts {
  readonly turns: Pick<PendingTurns, "counts" | "oldestAtMs">;
  /** Null where nothing is delivered. Default: nothing is. */
  readonly deliveries?: (() => Promise<{ readonly waiting: number; readonly dead: number }>) | null;
  readonly clock: Clock;
}

/**
 * What is left to write back, and how old the oldest of it is; what is left to deliver.
 * @throws what the store throws while it is out of reach
 */
export async function backlogOf({ turns, deliveries = null, clock }: BacklogParts): Promise<Backlog> {
  const [counts, since, events] = await Promise.all([turns.counts(), turns.oldestAtMs(), deliveries?.()]);
  const oldestMs = since === null ? 0 : Math.max(0, clock.now().getTime() - since);
  return { ...counts, oldestMs, ...(events && { deliveries: events }) };
}
