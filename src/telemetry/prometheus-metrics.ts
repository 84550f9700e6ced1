import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { TaskTokens, TokenTask } from "../domain/tokens.js";
import { within } from "../platform/bounded-signal.js";
import { VERSION } from "../platform/version.js";
import type { Backlog, CostSpent, ReadableMetrics, RequestEnd, TurnEnd, WriteBackEnd } from "../ports/metrics.js";

export interface PrometheusOptions {
  /** Adds what Node tells of the process: memory, event loop, garbage collection. Default false: they are the application's own. */
  readonly process?: boolean;
  /** Bound of reading the backlog while somebody waits for the text. Default 2,000. */
  readonly backlogMs?: number;
}

/** Seconds: from what a stand-in takes to a turn with tools, up to the default of TURN_TIMEOUT_MS. */
const TURN_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120];
/** Seconds: recall is bounded by RECALL_DEADLINE_MS. */
const RECALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 0.8, 1.5, 3];
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Others are counted as `other`: a client may write what it likes. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Series are models times tenants; what comes after so many is counted as `other`. */
const MODEL_LABELS = 20;
const TENANT_LABELS = 50;

/** Metrics in the form that Prometheus reads, in a registry of their own: two of them know nothing of each other. */
export class PrometheusMetrics implements ReadableMetrics {
  readonly #registry = new Registry();
  readonly #backlogMs: number;
  #readBacklog: (() => Promise<Backlog>) | null = null;

  readonly #turns = this.#counter("maitred_turns_total", "Turns that had begun, by how they ended.", ["outcome"]);
  readonly #turnFailures = this.#counter("maitred_turn_failures_total", "Turns that were interrupted or failed, by error code.", ["code"]);
  readonly #memory = this.#counter("maitred_turn_memory_total", "Turns by what recall of long-term memory came to.", ["status"]);
  readonly #turn = this.#histogram(
    "maitred_turn_duration_seconds",
    "Completed turns, from the session's lock to the answer.",
    TURN_BUCKETS,
  );
  readonly #firstToken = this.#histogram("maitred_turn_first_token_seconds", "Until a turn's first text went out.", TURN_BUCKETS);
  readonly #recall = this.#histogram("maitred_turn_recall_seconds", "Recall of completed turns, and the write beside it.", RECALL_BUCKETS);
  readonly #model = this.#histogram("maitred_turn_model_seconds", "Waiting for the model, over all calls of a turn.", TURN_BUCKETS);
  readonly #writeBacks = this.#counter("maitred_write_backs_total", "Tries to write a turn back, by how they ended.", ["outcome"]);
  readonly #writeBackFailures = this.#counter("maitred_write_back_failures_total", "Write-backs that failed, by error code.", ["code"]);
  readonly #writeBack = this.#histogram("maitred_write_back_duration_seconds", "Write-backs that were done.", TURN_BUCKETS);
  readonly #pending = this.#gauge("maitred_write_back_pending_turns", "Answered turns that are not written back yet.");
  readonly #failed = this.#gauge("maitred_write_back_failed_turns", "Turns whose write-back was given up; it can be retried.");
  readonly #lag = this.#gauge("maitred_write_back_lag_seconds", "Age of the oldest turn that is not written back yet.");
  readonly #undelivered = this.#gauge("maitred_webhook_waiting_events", "Events that are to be delivered.");
  readonly #deadEvents = this.#gauge("maitred_webhook_dead_events", "Events whose delivery was given up; it can be repeated.");
  readonly #tokens = this.#counter("maitred_tokens_total", "Tokens by task; `cached` is the part of `input` that a provider had cached.", [
    "task",
    "kind",
  ]);
  readonly #calls = this.#counter("maitred_model_calls_total", "Calls of models and embedders that were answered, by task.", ["task"]);
  readonly #cost = this.#counter("maitred_cost_total", "What calls cost, in the currency of MODEL_PRICES_FILE.", ["model", "tenant"]);
  readonly #unpriced = this.#counter("maitred_unpriced_calls_total", "Calls of models whose price is unknown.", ["model"]);
  readonly #models = new BoundedLabel(MODEL_LABELS);
  readonly #tenants = new BoundedLabel(TENANT_LABELS);
  readonly #requests = this.#counter("maitred_http_requests_total", "HTTP requests by the pattern of their route.", [
    "route",
    "method",
    "status",
  ]);
  readonly #request = this.#histogram("maitred_http_request_duration_seconds", "Until an answer's head.", REQUEST_BUCKETS, [
    "route",
    "method",
    "status",
  ]);

  constructor({ process = false, backlogMs = 2_000 }: PrometheusOptions = {}) {
    this.#backlogMs = backlogMs;
    const info = new Gauge({ name: "maitred_info", help: "The version that runs.", labelNames: ["version"], registers: [this.#registry] });
    info.set({ version: VERSION }, 1);
    if (process) collectDefaultMetrics({ register: this.#registry });
  }

  turnEnded(end: TurnEnd): void {
    this.#turns.inc({ outcome: end.outcome });
    this.#memory.inc({ status: end.memory });
    if (end.outcome === "suspended") return;
    if (end.outcome !== "completed") {
      this.#turnFailures.inc({ code: end.code });
      return;
    }
    const { totalMs, firstTokenMs, recallMs, modelMs } = end.timing;
    this.#turn.observe(seconds(totalMs));
    this.#firstToken.observe(seconds(firstTokenMs ?? totalMs));
    this.#recall.observe(seconds(recallMs));
    this.#model.observe(seconds(modelMs));
  }

  tokensUsed(task: TokenTask, { calls, input, cached, output }: TaskTokens): void {
    this.#calls.inc({ task }, counted(calls));
    for (const [kind, count] of Object.entries({ input, cached, output })) this.#tokens.inc({ task, kind }, counted(count));
  }

  costSpent({ model: named, tenant, cost }: CostSpent): void {
    const model = this.#models.of(named);
    if (cost === null) this.#unpriced.inc({ model });
    else this.#cost.inc({ model, tenant: tenant === null ? "" : this.#tenants.of(tenant) }, counted(cost));
  }

  writeBackEnded(end: WriteBackEnd): void {
    this.#writeBacks.inc({ outcome: end.outcome });
    if (end.outcome === "done") this.#writeBack.observe(seconds(end.ms));
    else if (end.outcome !== "given_up") this.#writeBackFailures.inc({ code: end.code });
  }

  requestEnded({ method, route, status, ms }: RequestEnd): void {
    const labels = { route, method: METHODS.has(method) ? method : "other", status: `${Math.trunc(status / 100)}xx` };
    this.#requests.inc(labels);
    this.#request.observe(labels, seconds(ms));
  }

  backlogFrom(read: () => Promise<Backlog>): void {
    this.#readBacklog = read;
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text that is scraped. While the backlog can't be read its numbers are left out. Never rejects. */
  async text(): Promise<string> {
    const backlog = await this.#backlog();
    set(this.#pending, backlog?.pending ?? null);
    set(this.#failed, backlog?.failed ?? null);
    set(this.#undelivered, backlog?.deliveries?.waiting ?? null);
    set(this.#deadEvents, backlog?.deliveries?.dead ?? null);
    set(this.#lag, backlog === null || backlog.oldestMs === null ? null : backlog.oldestMs / 1_000);
    return this.#registry.metrics();
  }

  async #backlog(): Promise<Backlog | null> {
    if (this.#readBacklog === null) return null;
    return within(this.#backlogMs, this.#readBacklog(), null).catch(() => null);
  }

  #counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.#registry] });
  }

  #histogram<L extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly L[] = [],
  ): Histogram<L> {
    return new Histogram({ name, help, buckets: [...buckets], labelNames: [...labelNames], registers: [this.#registry] });
  }

  #gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.#registry] });
  }
}

/** An agent, a model or a provider of one's own may tell anything; a counter would throw for what it can't add. */
function counted(count: number): number {
  return Number.isFinite(count) && count > 0 ? count : 0;
}

function seconds(ms: number): number {
  return counted(ms) / 1_000;
}

function set(gauge: Gauge, value: number | null): void {
  if (value === null) gauge.remove();
  else gauge.set(value);
}

const LONGEST = 128;

/** Values of a label, the first so many; any other is `other`: each value is a series that is kept as long as the process. */
class BoundedLabel {
  readonly #most: number;
  readonly #values = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(value: string): string {
    if (this.#values.has(value)) return value;
    if (value.length > LONGEST || this.#values.size >= this.#most) return "other";
    this.#values.add(value);
    return value;
  }
}
